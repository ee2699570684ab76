package overview

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/resp"
)

// Room shows the data set at a glance, and all about a key.
type Room struct {
	*room.Base
	Place string // what the target is called
}

// Update takes in what a job brought; it leaves what is of other rooms.
func (v *Room) Update(msg tea.Msg) tea.Cmd {
	switch r := msg.(type) {
	case keyInfoMsg:
		v.onKeyInfo(r)
	case partMsg:
		return v.onPart(r)
	}
	return nil
}

// Glance is a data set at a glance. It fills in part by part, the dear ones
// last, for as long as it is on the screen.
type Glance struct {
	room.Page
	parts    []part // still to be found out
	keys     int64
	partial  string // which keys kinds and folders are about; "": all
	kinds    []catalog.Amount
	sample   bool             // deaths, too, are about those
	expiries []int64          // by lifeSpans; nil while unknown
	folders  []catalog.Amount // their bytes are 0 when unknown
	file     *catalog.File
	wal      int64
	server   []string // facts that a server tells
	scanned  int64    // of a server, how many keys the folders are about
	scope    string   // and which those are
	plot     plot
}

// part is something to find out about the data set: it runs off the screen's loop,
// and what it returns puts the answer into the overview.
type part func(context.Context) (partMsg, error)

// partMsg puts an answer into the overview, and may add parts.
type partMsg func(*Glance)

var (
	ttlSpans  = []int64{60_000, hourMs, 24 * hourMs, 7 * 24 * hourMs, 30 * 24 * hourMs, 1 << 61}
	ttlLabels = []string{"a minute", "an hour", "a day", "7 days", "30 days", "later"}
)

const hourMs = 3600_000

// ShowOverview begins it.
func (v *Room) ShowOverview(keys room.Known) tea.Cmd {
	o := &Glance{keys: keys.Total, Page: room.Page{Title: "Overview of database " + target.Decimal(int64(v.DB))}}
	db, ix, delimiter := v.DB, v.Index, v.Delimiter
	if ix == nil {
		o.scanned, o.scope = keys.Found, "of those scanned"
		if keys.Chosen {
			o.scope = "of those found"
		}
		o.parts = []part{serverPart(v.Conn, db), samplePart(v.Conn, v.Clock, db, keys.Sample), foldersPart(keys.Names, db, delimiter)}
	} else {
		o.parts = []part{
			func(ctx context.Context) (partMsg, error) {
				f, err := ix.File(ctx)
				wal, err2 := ix.WALSize()
				return func(o *Glance) { o.file, o.wal = &f, wal }, cmp.Or(err, err2)
			},
			func(ctx context.Context) (partMsg, error) {
				_, prefix, err := firstFolders(ctx, ix, db, delimiter)
				return func(o *Glance) { o.parts = append(o.parts, sumPart(ix.Sum(db, prefix, delimiter))) }, err
			},
			func(ctx context.Context) (partMsg, error) {
				deaths, err := ix.Deaths(ctx, db, ttlSpans)
				return func(o *Glance) { o.expiries = deaths }, err
			},
		}
	}
	o.Layout = func(width, _ int) []string { return o.draw(v, width) }
	v.Cancel(job.Sizing) // it goes on after this
	v.Dialog = o
	return v.loadNext(o)
}

// sumPart adds some more keys up, and goes on until those are all.
func sumPart(sums *catalog.Summing) part {
	return func(ctx context.Context) (partMsg, error) {
		err := sums.Look(ctx)
		kinds, folders := sums.Kinds(), sums.Folders()
		looked, done := sums.Looked()
		return func(o *Glance) {
			o.kinds, o.folders, o.partial = kinds, folders, ""
			if !done {
				o.partial = "of the first " + display.Grouped(looked) + " keys"
				o.parts = append(o.parts, sumPart(sums))
			}
		}, err
	}
}

// maxFolders is how many folders are counted where each costs a count.
const maxFolders = 100

// firstFolders is a level of folders that says something: a single folder does not,
// what is in it does.
func firstFolders(ctx context.Context, keys target.Keyspace, db int, delimiter string) (p catalog.Page, prefix string, err error) {
	for {
		p, err = keys.Level(ctx, db, prefix, delimiter, catalog.Mark{}, false, maxFolders)
		if err != nil || len(p.Entries) != 1 || !p.Entries[0].Folder || !p.End {
			return p, prefix, err
		}
		prefix = p.Entries[0].Name
	}
}

// foldersPart finds the folders, and then counts each.
func foldersPart(keys target.Keyspace, db int, delimiter string) part {
	return func(ctx context.Context) (partMsg, error) {
		p, _, err := firstFolders(ctx, keys, db, delimiter)
		return func(o *Glance) {
			for _, e := range p.Entries {
				if e.Folder {
					o.parts = append(o.parts, tallyPart(keys, db, e.Name))
				}
			}
		}, err
	}
}

func tallyPart(keys target.Keyspace, db int, folder string) part {
	return func(ctx context.Context) (partMsg, error) {
		n, err := keys.Tally(ctx, db, folder)
		return func(o *Glance) {
			o.folders = append(o.folders, catalog.Amount{Name: folder, Keys: n})
			slices.SortStableFunc(o.folders, func(a, b catalog.Amount) int { return cmp.Compare(b.Keys, a.Keys) })
		}, err
	}
}

// maxFoldersShown is how many folders the overview names.
const maxFoldersShown = 10

// serverPart asks a server about itself.
func serverPart(c *target.Conn, db int) part {
	return func(ctx context.Context) (partMsg, error) {
		values, err := c.Do(ctx, db, target.Command("INFO"))
		if err != nil {
			return nil, err
		}
		return func(o *Glance) { o.server = serverFacts(values[0]) }, nil
	}
}

func serverFacts(info resp.Value) (facts []string) {
	if info.IsError() {
		return []string{target.Text(info)}
	}
	for line := range strings.Lines(target.Text(info)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "redis_version", "redis_mode", "used_memory_human", "maxmemory_human", "connected_clients", "uptime_in_days", "role":
			facts = append(facts, strings.ReplaceAll(strings.TrimSuffix(name, "_human"), "_", " ")+" "+value)
		}
	}
	return facts
}

// sampleSize is how many keys a server is asked about: each costs commands.
const sampleSize = 500

// samplePart looks at some of the keys that were scanned.
func samplePart(c *target.Conn, clock func() int64, db int, sample func(n int) []string) part {
	return func(ctx context.Context) (partMsg, error) {
		now := clock()
		facts, err := c.Describe(ctx, db, sample(sampleSize), now)
		return func(o *Glance) {
			o.sample, o.expiries, o.kinds = true, make([]int64, len(ttlSpans)), []catalog.Amount{}
			o.partial = "in a sample of " + display.Counted(int64(len(facts)), "key", "keys")
			for _, f := range facts {
				if f.Type == "" {
					continue // it has ended since
				}
				i := slices.IndexFunc(o.kinds, func(k catalog.Amount) bool { return k.Name == f.Type })
				if i < 0 {
					o.kinds, i = append(o.kinds, catalog.Amount{Name: f.Type}), len(o.kinds)
				}
				o.kinds[i].Keys++
				for j, span := range ttlSpans {
					if f.Expires != 0 && f.Expires-now <= span {
						o.expiries[j]++
						break
					}
				}
			}
			slices.SortStableFunc(o.kinds, func(a, b catalog.Amount) int { return cmp.Compare(b.Keys, a.Keys) })
		}, err
	}
}

// loadNext finds out the next part.
func (v *Room) loadNext(o *Glance) tea.Cmd {
	if len(o.parts) == 0 {
		return nil
	}
	next := o.parts[0]
	o.parts = o.parts[1:]
	return v.Start(job.Overviewing, func(ctx context.Context) (tea.Msg, error) {
		l, err := next(ctx)
		return l, err
	})
}

// onPart takes a part in and goes on, while the overview is on the screen.
func (v *Room) onPart(l partMsg) tea.Cmd {
	o, ok := v.Dialog.(*Glance)
	if !ok {
		return nil
	}
	l(o)
	return v.loadNext(o)
}

// Press implements room.Dialog.
func (o *Glance) Press(b *room.Base, k tea.KeyMsg) tea.Cmd {
	cmd := o.Page.Press(b, k)
	if b.Dialog == nil {
		b.Cancel(job.Overviewing)
	}
	return cmd
}

// bar is n of most as a bar, the longest of which is width cells wide.
func (v *Room) bar(n, most int64, width int) string {
	if most <= 0 || n <= 0 {
		return ""
	}
	eighths := max(int(n*int64(width)*8/most), 1)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return v.Styles.Accent.Render(bar)
}

// plot is how wide the parts of a row with a bar are.
type plot struct{ name, count, bar int }

// plotFor fits the bars to the width of the box; the numbers are short where it is
// narrow.
func plotFor(width int) plot {
	p := plot{name: 16, count: 12}
	if width < 60 {
		p = plot{name: 11, count: 5}
	}
	// A margin of one cell, a size of nine, a gap of one before the bar and after it.
	p.bar = min(max(width-p.name-p.count-12, 4), 48)
	return p
}

// countText is n in the width of the plot.
func (p plot) countText(n int64) string {
	if s := display.Grouped(n); len(s) <= p.count {
		return display.FitRight(s, p.count)
	}
	return display.FitRight(display.Short(n), p.count)
}

// draw lays the overview out.
func (o *Glance) draw(v *Room, width int) []string {
	o.Lines, o.plot = nil, plotFor(width)
	dim := v.Styles.Dim.Render
	seen := catalog.Amount{Keys: o.keys}
	if o.kinds != nil {
		seen.Keys = 0
		for _, k := range o.kinds {
			seen.Keys, seen.Bytes = seen.Keys+k.Keys, seen.Bytes+k.Bytes
		}
	}
	total, size := "?", ""
	if o.keys >= 0 {
		total = display.Grouped(o.keys)
	}
	if seen.Bytes > 0 && o.partial == "" {
		size = ", " + display.Bytes(seen.Bytes)
	}
	o.add(v.Styles.Accent.Render(total), " keys"+size+" in ", display.Whole(v.Place))
	o.heading(v, "Types", o.partial)
	numbers := make([]int64, len(o.kinds))
	for i, k := range o.kinds {
		numbers[i] = k.Keys
	}
	shares := percents(numbers, seen.Keys)
	for i, k := range o.kinds {
		o.row(v, display.Type(k.Name), k.Keys, o.kinds[0].Keys, shares[i])
	}
	if o.kinds == nil {
		o.add(dim("…"))
	}
	o.drawExpiries(v, seen.Keys)
	o.drawFolders(v)
	if f := o.file; f != nil {
		o.heading(v, "File", "")
		o.add(display.Bytes(f.PageSize*f.Pages), dim(" in "), display.Grouped(f.Pages), dim(" pages of "+display.Bytes(f.PageSize)+", "), display.Grouped(f.FreePages), dim(" free"))
		o.add(dim("journal "), f.Journal, dim(" of "), display.Bytes(o.wal), dim(" · schema "), target.Decimal(f.Schema))
	}
	if len(o.server) > 0 {
		o.heading(v, "Server", "")
		for _, fact := range o.server {
			o.add(fact)
		}
	}
	return o.Lines
}

func (o *Glance) add(parts ...string) { o.Lines = append(o.Lines, " "+strings.Join(parts, "")) }

func (o *Glance) heading(v *Room, name, note string) {
	o.add()
	o.add(v.Styles.Title.Render(name), v.Styles.Dim.Render("  "+note))
}

// row is a number with its bar, of which the longest stands for most.
func (o *Glance) row(v *Room, name string, n, most int64, note string) {
	o.add(display.Fit(name, o.plot.name), o.plot.countText(n), v.Styles.Dim.Render(note), " ", v.bar(n, most, o.plot.bar))
}

// percents are the parts that numbers are of all, each in cells of its own; what is there is
// never 0%.
func percents(numbers []int64, of int64) []string {
	shown := make([]string, len(numbers))
	if of <= 0 {
		return shown
	}
	for i, share := range display.Shares(numbers, of, 100) {
		text := target.Decimal(share) + "%"
		if n := numbers[i]; n > 0 && n*100 < of {
			text = "<1%"
		}
		shown[i] = display.FitRight(text, 5) + " "
	}
	return shown
}

func (o *Glance) drawFolders(v *Room) {
	if len(o.folders) == 0 {
		return
	}
	indexed := v.Index != nil
	note, all := o.scope, o.scanned
	if indexed {
		note, all = "keys and bytes", o.keys
	}
	if indexed && o.partial != "" {
		note += " " + o.partial
	}
	o.heading(v, "Biggest folders", note)
	folders := o.folders[:min(len(o.folders), maxFoldersShown)]
	numbers := make([]int64, len(folders))
	for i, f := range folders {
		numbers[i] = f.Keys
	}
	shares := percents(numbers, all)
	for i, f := range folders {
		size := shares[i]
		if indexed {
			size = display.FitRight(display.Bytes(f.Bytes), 9)
		}
		o.row(v, display.Text(f.Name, o.plot.name), f.Keys, o.folders[0].Keys, size)
	}
}

// drawExpiries shows how many of all keys, or of those that were asked, end when.
func (o *Glance) drawExpiries(v *Room, sampled int64) {
	all, note := o.keys, ""
	if o.sample {
		all, note = sampled, o.partial
	}
	o.heading(v, "Time to live", note)
	if o.expiries == nil {
		o.add(v.Styles.Dim.Render("…"))
		return
	}
	never := all
	for _, n := range o.expiries {
		never -= n
	}
	never = max(never, 0)
	numbers := append(slices.Clone(o.expiries), never)
	shares := percents(numbers, all)
	for i, n := range numbers {
		label := "never"
		if i < len(o.expiries) {
			label = ttlLabels[i]
		}
		o.row(v, label, n, slices.Max(numbers), shares[i])
	}
}
