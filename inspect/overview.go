package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/resp"
)

// overview is a data set at a glance. It fills in part by part, the dear ones
// last, for as long as it is on the screen.
type overview struct {
	page
	parts   []part // still to be found out
	keys    int64
	partial string // which keys kinds and folders are about; "": all
	kinds   []catalog.Amount
	sample  bool             // deaths, too, are about those
	deaths  []int64          // by lifeSpans; nil while unknown
	folders []catalog.Amount // their bytes are 0 when unknown
	file    *catalog.File
	wal     int64
	server  []string // facts that a server tells
	scanned int64    // of a server, how many keys the folders are about
	scope   string   // and which those are
	plot    plot
}

// part is something to find out about the data set: it runs off the screen's loop,
// and what it returns puts the answer into the overview.
type part func(context.Context) (learnt, error)

// learnt puts an answer into the overview, and may add parts.
type learnt func(*overview)

var (
	lifeSpans  = []int64{60_000, hourMs, 24 * hourMs, 7 * 24 * hourMs, 30 * 24 * hourMs, 1 << 61}
	lifeLabels = []string{"a minute", "an hour", "a day", "7 days", "30 days", "later"}
)

const hourMs = 3600_000

// showOverview begins it.
func (m *Model) showOverview() tea.Cmd {
	o := &overview{keys: m.total, page: page{title: "Overview of database " + decimal(int64(m.db))}}
	db, ix := m.db, m.options.Index
	w := m.walker()
	w.query = catalog.Query{DB: db}
	if ix == nil {
		keys := m.scan.keys.named()
		o.scanned, o.scope = int64(keys.len()), "of those scanned"
		if m.filtered() {
			o.scope = "of those found"
		}
		o.parts = []part{m.serverPart(db), m.samplePart(db), foldersPart(keys, db, w.delimiter)}
	} else {
		o.parts = []part{
			func(ctx context.Context) (learnt, error) {
				f, err := ix.File(ctx)
				wal, err2 := ix.WALSize()
				return func(o *overview) { o.file, o.wal = &f, wal }, cmp.Or(err, err2)
			},
			func(ctx context.Context) (learnt, error) {
				_, prefix, err := firstFolders(ctx, ix, db, w.delimiter)
				return func(o *overview) { o.parts = append(o.parts, surveyPart(ix.Survey(db, prefix, w.delimiter))) }, err
			},
			func(ctx context.Context) (learnt, error) {
				deaths, err := ix.Deaths(ctx, db, lifeSpans)
				return func(o *overview) { o.deaths = deaths }, err
			},
		}
	}
	o.laid = func(width, _ int) []string { return o.draw(m, width) }
	m.cancel(sizing) // it goes on behind this
	m.overlay = o
	return m.learn(o)
}

// surveyPart adds some more keys up, and goes on until those are all.
func surveyPart(survey *catalog.Survey) part {
	return func(ctx context.Context) (learnt, error) {
		err := survey.Look(ctx)
		kinds, folders := survey.Kinds(), survey.Folders()
		looked, done := survey.Looked()
		return func(o *overview) {
			o.kinds, o.folders, o.partial = kinds, folders, ""
			if !done {
				o.partial = "of the first " + grouped(looked) + " keys"
				o.parts = append(o.parts, surveyPart(survey))
			}
		}, err
	}
}

// mostFolders is how many folders are counted where each costs a count.
const mostFolders = 100

// firstFolders is a level of folders that says something: a single folder does not,
// what is in it does.
func firstFolders(ctx context.Context, keys keyspace, db int, delimiter string) (p catalog.Page, prefix string, err error) {
	for {
		p, err = keys.Level(ctx, db, prefix, delimiter, catalog.Mark{}, false, mostFolders)
		if err != nil || len(p.Entries) != 1 || !p.Entries[0].Folder || !p.End {
			return p, prefix, err
		}
		prefix = p.Entries[0].Name
	}
}

// foldersPart finds the folders, and then counts each.
func foldersPart(keys keyspace, db int, delimiter string) part {
	return func(ctx context.Context) (learnt, error) {
		p, _, err := firstFolders(ctx, keys, db, delimiter)
		return func(o *overview) {
			for _, e := range p.Entries {
				if e.Folder {
					o.parts = append(o.parts, tallyPart(keys, db, e.Name))
				}
			}
		}, err
	}
}

func tallyPart(keys keyspace, db int, folder string) part {
	return func(ctx context.Context) (learnt, error) {
		n, err := keys.Tally(ctx, db, folder)
		return func(o *overview) {
			o.folders = append(o.folders, catalog.Amount{Name: folder, Keys: n})
			slices.SortStableFunc(o.folders, func(a, b catalog.Amount) int { return cmp.Compare(b.Keys, a.Keys) })
		}, err
	}
}

// foldersShown is how many folders the overview names.
const foldersShown = 10

// serverPart asks a server about itself.
func (m *Model) serverPart(db int) part {
	return func(ctx context.Context) (learnt, error) {
		values, err := m.conn.do(ctx, db, command("INFO"))
		if err != nil {
			return nil, err
		}
		return func(o *overview) { o.server = serverFacts(values[0]) }, nil
	}
}

func serverFacts(info resp.Value) (facts []string) {
	if info.IsError() {
		return []string{text(info)}
	}
	for line := range strings.Lines(text(info)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "redis_version", "redis_mode", "used_memory_human", "maxmemory_human", "connected_clients", "uptime_in_days", "role":
			facts = append(facts, strings.ReplaceAll(strings.TrimSuffix(name, "_human"), "_", " ")+" "+value)
		}
	}
	return facts
}

// sampled is how many keys a server is asked about: each costs commands.
const sampled = 500

// samplePart looks at some of the keys that were scanned.
func (m *Model) samplePart(db int) part {
	keys := m.scan.keys
	return func(ctx context.Context) (learnt, error) {
		now := m.options.Now()
		facts, err := m.conn.describe(ctx, db, keys.sample(sampled), now)
		return func(o *overview) {
			o.sample, o.deaths, o.kinds = true, make([]int64, len(lifeSpans)), []catalog.Amount{}
			o.partial = "in a sample of " + counted(int64(len(facts)), "key", "keys")
			for _, f := range facts {
				if f.Type == "" {
					continue // it has ended since
				}
				i := slices.IndexFunc(o.kinds, func(k catalog.Amount) bool { return k.Name == f.Type })
				if i < 0 {
					o.kinds, i = append(o.kinds, catalog.Amount{Name: f.Type}), len(o.kinds)
				}
				o.kinds[i].Keys++
				for j, span := range lifeSpans {
					if f.Expires != 0 && f.Expires-now <= span {
						o.deaths[j]++
						break
					}
				}
			}
			slices.SortStableFunc(o.kinds, func(a, b catalog.Amount) int { return cmp.Compare(b.Keys, a.Keys) })
		}, err
	}
}

// sample is up to n names, evenly from all.
func (g *gathered) sample(n int) (names []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n = min(n, len(g.keys))
	for i := range n {
		names = append(names, g.keys[i*len(g.keys)/n].name)
	}
	return names
}

// learn finds out the next part.
func (m *Model) learn(o *overview) tea.Cmd {
	if len(o.parts) == 0 {
		return nil
	}
	next := o.parts[0]
	o.parts = o.parts[1:]
	return m.start(overviewing, func(ctx context.Context) (tea.Msg, error) {
		l, err := next(ctx)
		return l, err
	})
}

// learns takes a part in and goes on, while the overview is on the screen.
func (m *Model) learns(l learnt) tea.Cmd {
	o, ok := m.overlay.(*overview)
	if !ok {
		return nil
	}
	l(o)
	return m.learn(o)
}

func (o *overview) press(m *Model, k tea.KeyMsg) tea.Cmd {
	cmd := o.page.press(m, k)
	if m.overlay == nil {
		m.cancel(overviewing)
	}
	return cmd
}

// bar is n of most as a bar, the longest of which is width cells wide.
func (m *Model) bar(n, most int64, width int) string {
	if most <= 0 || n <= 0 {
		return ""
	}
	eighths := max(int(n*int64(width)*8/most), 1)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return m.styles.accent.Render(bar)
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
	// A margin of one cell, a size of nine, a gap of one before the bar and behind it.
	p.bar = min(max(width-p.name-p.count-12, 4), 48)
	return p
}

// number is n in the width of the plot.
func (p plot) number(n int64) string {
	if s := grouped(n); len(s) <= p.count {
		return fitRight(s, p.count)
	}
	return fitRight(display.Short(n), p.count)
}

// draw lays the overview out.
func (o *overview) draw(m *Model, width int) []string {
	o.lines, o.plot = nil, plotFor(width)
	dim := m.styles.dim.Render
	seen := catalog.Amount{Keys: o.keys}
	if o.kinds != nil {
		seen.Keys = 0
		for _, k := range o.kinds {
			seen.Keys, seen.Bytes = seen.Keys+k.Keys, seen.Bytes+k.Bytes
		}
	}
	total, size := "?", ""
	if o.keys >= 0 {
		total = grouped(o.keys)
	}
	if seen.Bytes > 0 && o.partial == "" {
		size = ", " + bytesize(seen.Bytes)
	}
	o.add(m.styles.accent.Render(total), " keys"+size+" in ", whole(m.options.Target))
	o.heading(m, "Types", o.partial)
	for _, k := range o.kinds {
		o.row(m, shownKind(k.Name), k.Keys, o.kinds[0].Keys, percent(k.Keys, seen.Keys))
	}
	if o.kinds == nil {
		o.add(dim("…"))
	}
	o.drawDeaths(m, seen.Keys)
	o.drawFolders(m)
	if f := o.file; f != nil {
		o.heading(m, "File", "")
		o.add(bytesize(f.PageSize*f.Pages), dim(" in "), grouped(f.Pages), dim(" pages of "+bytesize(f.PageSize)+", "), grouped(f.FreePages), dim(" free"))
		o.add(dim("journal "), f.Journal, dim(" of "), bytesize(o.wal), dim(" · schema "), decimal(f.Schema))
	}
	if len(o.server) > 0 {
		o.heading(m, "Server", "")
		for _, fact := range o.server {
			o.add(fact)
		}
	}
	return o.lines
}

func (o *overview) add(parts ...string) { o.lines = append(o.lines, " "+strings.Join(parts, "")) }

func (o *overview) heading(m *Model, name, note string) {
	o.add()
	o.add(m.styles.title.Render(name), m.styles.dim.Render("  "+note))
}

// row is a number with its bar, of which the longest stands for most.
func (o *overview) row(m *Model, name string, n, most int64, note string) {
	o.add(fit(name, o.plot.name), o.plot.number(n), m.styles.dim.Render(note), " ", m.bar(n, most, o.plot.bar))
}

// percent is the part that n is of all, in cells of its own; what is there is
// never 0%.
func percent(n, of int64) string {
	switch {
	case of <= 0:
		return ""
	case n > 0 && n*100 < of:
		return fitRight("<1%", 5) + " "
	}
	return fitRight(decimal(n*100/of)+"%", 5) + " "
}

func (o *overview) drawFolders(m *Model) {
	if len(o.folders) == 0 {
		return
	}
	indexed := m.options.Index != nil
	note, all := o.scope, o.scanned
	if indexed {
		note, all = "keys and bytes", o.keys
	}
	if indexed && o.partial != "" {
		note += " " + o.partial
	}
	o.heading(m, "Biggest folders", note)
	for _, f := range o.folders[:min(len(o.folders), foldersShown)] {
		size := percent(f.Keys, all)
		if indexed {
			size = fitRight(bytesize(f.Bytes), 9)
		}
		o.row(m, shown(f.Name, o.plot.name), f.Keys, o.folders[0].Keys, size)
	}
}

// drawDeaths shows how many of all keys, or of those that were asked, end when.
func (o *overview) drawDeaths(m *Model, sampled int64) {
	all, note := o.keys, ""
	if o.sample {
		all, note = sampled, o.partial
	}
	o.heading(m, "Time to live", note)
	if o.deaths == nil {
		o.add(m.styles.dim.Render("…"))
		return
	}
	never := all
	for _, n := range o.deaths {
		never -= n
	}
	never = max(never, 0)
	most := max(never, slices.Max(o.deaths))
	for i, n := range o.deaths {
		o.row(m, lifeLabels[i], n, most, percent(n, all))
	}
	o.row(m, "never", never, most, percent(never, all))
}
