package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/resp"
)

// overview is a data set at a glance. It fills in part by part, the dear ones
// last, for as long as it is on the screen.
type overview struct {
	page
	parts   []part // still to be found out
	keys    int64
	sample  int64 // how many keys kinds and deaths were made from; 0: all
	kinds   []catalog.Kind
	deaths  []int64 // by lifeSpans; nil while unknown
	folders []folderFacts
	file    *catalog.File
	wal     int64
	server  []string // facts that a server tells
}

// part is something to find out about the data set: it runs off the screen's loop,
// and what it returns puts the answer into the overview.
type part func(context.Context) (learnt, error)

// learnt puts an answer into the overview, and may add parts.
type learnt func(*overview)

// folderFacts is a folder and how much is in it.
type folderFacts struct {
	name        string
	keys, bytes int64 // bytes is -1 while unknown
}

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
		o.parts = []part{m.serverPart(db), m.samplePart(db), foldersPart(w.keys, db, "", w.delimiter)}
	} else {
		o.parts = []part{
			func(ctx context.Context) (learnt, error) {
				f, err := ix.File(ctx)
				wal, err2 := ix.WALSize()
				return func(o *overview) { o.file, o.wal = &f, wal }, cmp.Or(err, err2)
			},
			func(ctx context.Context) (learnt, error) {
				deaths, err := ix.Deaths(ctx, db, lifeSpans)
				return func(o *overview) { o.deaths = deaths }, err
			},
			foldersPart(ix, db, "", w.delimiter),
			func(ctx context.Context) (learnt, error) {
				kinds, err := ix.Kinds(ctx, db)
				return func(o *overview) { o.kinds = kinds }, err
			},
		}
	}
	m.overlay = o
	o.draw(m)
	return m.learn(o)
}

// mostFolders is how many folders are counted.
const mostFolders = 100

// foldersPart finds the folders of a level, and then counts each.
func foldersPart(keys keyspace, db int, prefix, delimiter string) part {
	return func(ctx context.Context) (learnt, error) {
		p, err := keys.Level(ctx, db, prefix, delimiter, catalog.Mark{}, false, mostFolders)
		if err != nil {
			return nil, err
		}
		// A single folder says nothing: what is in it does.
		if len(p.Entries) == 1 && p.Entries[0].Folder && p.End {
			return foldersPart(keys, db, p.Entries[0].Name, delimiter)(ctx)
		}
		return func(o *overview) {
			var tallies []part
			for _, e := range p.Entries {
				if e.Folder {
					tallies = append(tallies, tallyPart(keys, db, e.Name))
				}
			}
			o.parts = append(tallies, o.parts...)
			if ix, ok := keys.(Index); ok {
				o.parts = append(o.parts, weighPart(ix, db))
			}
		}, nil
	}
}

func tallyPart(keys keyspace, db int, folder string) part {
	return func(ctx context.Context) (learnt, error) {
		n, err := keys.Tally(ctx, db, folder)
		return func(o *overview) {
			o.folders = append(o.folders, folderFacts{folder, n, -1})
			slices.SortStableFunc(o.folders, func(a, b folderFacts) int { return cmp.Compare(b.keys, a.keys) })
		}, err
	}
}

// foldersShown is how many folders the overview names.
const foldersShown = 10

// weighPart begins to add up the bytes of the folders that are shown.
func weighPart(ix Index, db int) part {
	return func(context.Context) (learnt, error) {
		return func(o *overview) {
			for _, f := range o.folders[:min(len(o.folders), foldersShown)] {
				o.parts = append(o.parts, func(ctx context.Context) (learnt, error) {
					n, err := ix.Weigh(ctx, db, f.name)
					return func(o *overview) {
						for i := range o.folders {
							if o.folders[i].name == f.name {
								o.folders[i].bytes = n
							}
						}
					}, err
				})
			}
		}, nil
	}
}

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
			o.sample, o.deaths, o.kinds = int64(len(facts)), make([]int64, len(lifeSpans)), []catalog.Kind{}
			for _, f := range facts {
				i := slices.IndexFunc(o.kinds, func(k catalog.Kind) bool { return k.Type == f.Type })
				if i < 0 {
					o.kinds, i = append(o.kinds, catalog.Kind{Type: f.Type}), len(o.kinds)
				}
				o.kinds[i].Keys++
				for j, span := range lifeSpans {
					if f.Expires != 0 && f.Expires-now <= span {
						o.deaths[j]++
						break
					}
				}
			}
			slices.SortStableFunc(o.kinds, func(a, b catalog.Kind) int { return cmp.Compare(b.Keys, a.Keys) })
		}, err
	}
}

// sample is up to n names, evenly from all.
func (g *gathered) sample(n int) (names []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	step := max(len(g.keys)/n, 1)
	for i := 0; i < len(g.keys) && len(names) < n; i += step {
		names = append(names, g.keys[i].name)
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
	o.draw(m)
	return m.learn(o)
}

func (o *overview) press(m *Model, k tea.KeyMsg) tea.Cmd {
	cmd := o.page.press(m, k)
	if m.overlay == nil {
		m.cancel(overviewing)
	}
	return cmd
}

// barWidth is the width of the longest bar.
const barWidth = 24

// bar is n of most as a bar.
func (m *Model) bar(n, most int64) string {
	if most <= 0 || n <= 0 {
		return ""
	}
	eighths := max(int(n*barWidth*8/most), 1)
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return m.styles.accent.Render(bar)
}

// draw lays the overview out.
func (o *overview) draw(m *Model) {
	o.lines = nil
	add := func(parts ...string) { o.lines = append(o.lines, " "+strings.Join(parts, "")) }
	dim := m.styles.dim.Render
	heading := func(name, note string) {
		add()
		add(m.styles.title.Render(name), dim("  "+note))
	}
	row := func(name string, n, most int64, more string) {
		percent := ""
		if of := o.keys; of > 0 && more == "" {
			if o.sample > 0 {
				of = o.sample
			}
			percent = fitRight(decimal(n*100/of)+"%", 5) + " "
		}
		add(fit(name, 16), fitRight(grouped(n), 12), dim(percent), more, " ", m.bar(n, most))
	}
	total := "?"
	if o.keys >= 0 {
		total = grouped(o.keys)
	}
	add(m.styles.accent.Render(total), " keys in ", whole(m.options.Target))
	note := ""
	if o.sample > 0 {
		note = "in a sample of " + counted(o.sample, "key", "keys")
	}
	heading("Types", note)
	for _, k := range o.kinds {
		row(shownKind(k.Type), k.Keys, o.kinds[0].Keys, "")
	}
	if o.kinds == nil {
		add(dim("…"))
	}
	heading("Time to live", note)
	o.drawDeaths(add, row, dim)
	if len(o.folders) > 0 {
		heading("Biggest folders", map[bool]string{true: "keys and bytes"}[m.options.Index != nil])
		for _, f := range o.folders[:min(len(o.folders), foldersShown)] {
			size := ""
			switch {
			case f.bytes >= 0:
				size = fitRight(bytesize(f.bytes), 9)
			case m.options.Index != nil:
				size = fitRight("…", 9)
			}
			row(shown(f.name, 16), f.keys, o.folders[0].keys, size)
		}
	}
	if f := o.file; f != nil {
		heading("File", "")
		add(bytesize(f.PageSize*f.Pages), dim(" in "), grouped(f.Pages), dim(" pages of "+bytesize(f.PageSize)+", "), grouped(f.FreePages), dim(" free"))
		add(dim("journal "), f.Journal, dim(" of "), bytesize(o.wal), dim(" · schema "), decimal(f.Schema))
	}
	if len(o.server) > 0 {
		heading("Server", "")
		for _, fact := range o.server {
			add(fact)
		}
	}
}

func (o *overview) drawDeaths(add func(...string), row func(string, int64, int64, string), dim func(...string) string) {
	if o.deaths == nil {
		add(dim("…"))
		return
	}
	never, most := o.keys, int64(0)
	if o.sample > 0 {
		never = o.sample
	}
	for _, n := range o.deaths {
		never -= n
		most = max(most, n)
	}
	most = max(most, never)
	for i, n := range o.deaths {
		row(lifeLabels[i], n, most, "")
	}
	row("never", max(never, 0), most, "")
}
