package overview

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// Pane is the pane with the summary of the data set, and the details of a key.
type Pane struct {
	*ui.PaneContext
	Target string // name of the target
}

// Update handles the results of this pane's jobs, and ignores other messages.
func (v *Pane) Update(msg tea.Msg) tea.Cmd {
	switch r := msg.(type) {
	case keyInfoMsg:
		v.onKeyInfo(r)
	case partMsg:
		return v.onPart(r)
	}
	return nil
}

// Summary is the summary of a data set. It is filled in part by part, the most expensive
// ones last, while it is on the screen.
type Summary struct {
	ui.Page
	parts    []part // parts still to load
	keys     int64
	partial  string // the keys that kinds and folders cover; "": all
	kinds    []catalog.Amount
	sample   bool             // expiries cover the same keys
	expiries []int64          // by ttlSpans; nil while unknown
	folders  []catalog.Amount // Bytes is 0 if unknown
	file     *catalog.File
	wal      int64
	server   []string // lines from INFO
	scanned  int64    // number of keys that folders cover, on a server
	scope    string   // and a description of them
	plot     plot
}

// part queries a part of the overview. It runs off the screen's loop, and returns a function
// that adds its answer to the overview.
type part func(context.Context) (partMsg, error)

// partMsg adds an answer to the overview, and may add more parts.
type partMsg func(*Summary)

var (
	ttlSpans  = []int64{60_000, hourMs, 24 * hourMs, 7 * 24 * hourMs, 30 * 24 * hourMs, 1 << 61}
	ttlLabels = []string{"a minute", "an hour", "a day", "7 days", "30 days", "later"}
)

const hourMs = 3600_000

// ShowOverview opens the overview and starts to load it.
func (v *Pane) ShowOverview(keys ui.Keyspace) tea.Cmd {
	o := &Summary{keys: keys.Total, Page: ui.Page{Title: "Overview of database " + client.Decimal(int64(v.DB))}}
	db, ix, delimiter := v.DB, v.Index, v.Delimiter
	if ix == nil {
		o.scanned, o.scope = keys.Found, "of scanned keys"
		if keys.Filtered {
			o.scope = "of found keys"
		}
		o.parts = []part{serverPart(v.Conn, db), samplePart(v.Conn, v.Clock, db, keys.Sample), foldersPart(keys.Names, db, delimiter)}
	} else {
		o.parts = []part{
			func(ctx context.Context) (partMsg, error) {
				f, err := ix.File(ctx)
				wal, err2 := ix.WALSize()
				return func(o *Summary) { o.file, o.wal = &f, wal }, cmp.Or(err, err2)
			},
			func(ctx context.Context) (partMsg, error) {
				_, prefix, err := firstFolders(ctx, ix, db, delimiter)
				return func(o *Summary) { o.parts = append(o.parts, sumPart(ix.Sum(db, prefix, delimiter))) }, err
			},
			func(ctx context.Context) (partMsg, error) {
				deaths, err := ix.ExpiryCounts(ctx, db, ttlSpans)
				return func(o *Summary) { o.expiries = deaths }, err
			},
		}
	}
	o.Layout = func(width, _ int) []string { return o.draw(v, width) }
	v.Cancel(job.MeasuringFolder) // it continues afterwards
	v.Dialog = o
	return v.loadNext(o)
}

// sumPart adds up more keys, and queues itself until all keys are counted.
func sumPart(sums *catalog.Summing) part {
	return func(ctx context.Context) (partMsg, error) {
		err := sums.ReadSlice(ctx)
		kinds, folders := sums.Types(), sums.Folders()
		looked, done := sums.Progress()
		return func(o *Summary) {
			o.kinds, o.folders, o.partial = kinds, folders, ""
			if !done {
				o.partial = "of the first " + display.Grouped(looked) + " keys"
				o.parts = append(o.parts, sumPart(sums))
			}
		}, err
	}
}

// maxFolders limits the counted folders if each one costs a query.
const maxFolders = 100

// firstFolders returns the first level with more than a single folder: one folder alone
// says nothing, its contents do.
func firstFolders(ctx context.Context, keys client.Keyspace, db int, delimiter string) (p catalog.Page, prefix string, err error) {
	for {
		p, err = keys.Level(ctx, db, prefix, delimiter, catalog.Mark{}, false, maxFolders)
		if err != nil || len(p.Entries) != 1 || !p.Entries[0].Folder || !p.End {
			return p, prefix, err
		}
		prefix = p.Entries[0].Name
	}
}

// foldersPart lists the folders, and queues a count for each.
func foldersPart(keys client.Keyspace, db int, delimiter string) part {
	return func(ctx context.Context) (partMsg, error) {
		p, _, err := firstFolders(ctx, keys, db, delimiter)
		return func(o *Summary) {
			for _, e := range p.Entries {
				if e.Folder {
					o.parts = append(o.parts, tallyPart(keys, db, e.Name))
				}
			}
		}, err
	}
}

func tallyPart(keys client.Keyspace, db int, folder string) part {
	return func(ctx context.Context) (partMsg, error) {
		n, err := keys.Count(ctx, db, folder)
		return func(o *Summary) {
			o.folders = append(o.folders, catalog.Amount{Name: folder, Keys: n})
			slices.SortStableFunc(o.folders, func(a, b catalog.Amount) int { return cmp.Compare(b.Keys, a.Keys) })
		}, err
	}
}

// maxFoldersShown limits the folders on the overview.
const maxFoldersShown = 10

// serverPart queries INFO.
func serverPart(c *client.Conn, db int) part {
	return func(ctx context.Context) (partMsg, error) {
		values, err := c.Do(ctx, db, client.Command("INFO"))
		if err != nil {
			return nil, err
		}
		return func(o *Summary) { o.server = serverFacts(values[0]) }, nil
	}
}

func serverFacts(info resp.Value) (facts []string) {
	if info.IsError() {
		return []string{client.Text(info)}
	}
	for line := range strings.Lines(client.Text(info)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "redis_version", "redis_mode", "used_memory_human", "maxmemory_human", "connected_clients", "uptime_in_days", "role":
			facts = append(facts, strings.ReplaceAll(strings.TrimSuffix(name, "_human"), "_", " ")+" "+value)
		}
	}
	return facts
}

// sampleSize limits the keys of a server that are described: each costs commands.
const sampleSize = 500

// samplePart describes some of the scanned keys.
func samplePart(c *client.Conn, clock func() int64, db int, sample func(n int) []string) part {
	return func(ctx context.Context) (partMsg, error) {
		now := clock()
		facts, err := c.Describe(ctx, db, sample(sampleSize), now)
		return func(o *Summary) {
			o.sample, o.expiries, o.kinds = true, make([]int64, len(ttlSpans)), []catalog.Amount{}
			o.partial = "in a sample of " + display.Counted(int64(len(facts)), "key", "keys")
			for _, f := range facts {
				if f.Type == "" {
					continue // it has expired since
				}
				o.countSampled(f, now)
			}
			slices.SortStableFunc(o.kinds, func(a, b catalog.Amount) int { return cmp.Compare(b.Keys, a.Keys) })
		}, err
	}
}

// countSampled counts a key of the sample by its type and its TTL.
func (o *Summary) countSampled(f catalog.Facts, now int64) {
	i := slices.IndexFunc(o.kinds, func(k catalog.Amount) bool { return k.Name == f.Type })
	if i < 0 {
		o.kinds, i = append(o.kinds, catalog.Amount{Name: f.Type}), len(o.kinds)
	}
	o.kinds[i].Keys++
	for j, span := range ttlSpans {
		if f.Expires != 0 && f.Expires-now <= span {
			o.expiries[j]++
			return
		}
	}
}

// loadNext loads the next part.
func (v *Pane) loadNext(o *Summary) tea.Cmd {
	if len(o.parts) == 0 {
		return nil
	}
	next := o.parts[0]
	o.parts = o.parts[1:]
	return v.Start(job.Summarizing, func(ctx context.Context) (tea.Msg, error) {
		l, err := next(ctx)
		return l, err
	})
}

// onPart adds an answer and loads the next part, while the overview is open.
func (v *Pane) onPart(l partMsg) tea.Cmd {
	o, ok := v.Dialog.(*Summary)
	if !ok {
		return nil
	}
	l(o)
	return v.loadNext(o)
}

// Press implements ui.Dialog.
func (o *Summary) Press(b *ui.PaneContext, k tea.KeyMsg) tea.Cmd {
	cmd := o.Page.Press(b, k)
	if b.Dialog == nil {
		b.Cancel(job.Summarizing)
	}
	return cmd
}

// bar renders n as a bar; most has the full width in cells.
func (v *Pane) bar(n, most int64, width int) string {
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

// plot holds the column widths of a row with a bar.
type plot struct{ name, count, bar int }

// plotFor fits the columns to the width of the box; in a narrow box, numbers are
// abbreviated.
func plotFor(width int) plot {
	p := plot{name: 16, count: 12}
	if width < 60 {
		p = plot{name: 11, count: 5}
	}
	// A margin of one cell, a size of nine, a gap of one before the bar and after it.
	p.bar = min(max(width-p.name-p.count-12, 4), 48)
	return p
}

// countText returns n in the width of its column.
func (p plot) countText(n int64) string {
	if s := display.Grouped(n); len(s) <= p.count {
		return display.FitRight(s, p.count)
	}
	return display.FitRight(display.Short(n), p.count)
}

// draw lays out the overview.
func (o *Summary) draw(v *Pane, width int) []string {
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
	o.add(v.Styles.Accent.Render(total), " keys"+size+" in ", display.Whole(v.Target))
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
		o.add(dim("journal "), f.Journal, dim(" of "), display.Bytes(o.wal), dim(" · schema "), client.Decimal(f.Schema))
	}
	if len(o.server) > 0 {
		o.heading(v, "Server", "")
		for _, fact := range o.server {
			o.add(fact)
		}
	}
	return o.Lines
}

func (o *Summary) add(parts ...string) { o.Lines = append(o.Lines, " "+strings.Join(parts, "")) }

func (o *Summary) heading(v *Pane, name, note string) {
	o.add()
	o.add(v.Styles.Title.Render(name), v.Styles.Dim.Render("  "+note))
}

// row adds a number with its bar; most is the longest bar.
func (o *Summary) row(v *Pane, name string, n, most int64, note string) {
	o.add(display.Fit(name, o.plot.name), o.plot.countText(n), v.Styles.Dim.Render(note), " ", v.bar(n, most, o.plot.bar))
}

// percents returns each number as a percentage of of, in cells of equal width. A number
// above 0 is never shown as 0%.
func percents(numbers []int64, of int64) []string {
	shown := make([]string, len(numbers))
	if of <= 0 {
		return shown
	}
	for i, share := range display.Shares(numbers, of, 100) {
		text := client.Decimal(share) + "%"
		if n := numbers[i]; n > 0 && n*100 < of {
			text = "<1%"
		}
		shown[i] = display.FitRight(text, 5) + " "
	}
	return shown
}

func (o *Summary) drawFolders(v *Pane) {
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

// drawExpiries shows how many of all keys, or of the sampled keys, expire within each span.
func (o *Summary) drawExpiries(v *Pane, sampled int64) {
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
