package overview

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// Pane is the pane with the summary of the data set, and the details of a key.
type Pane struct {
	*ui.PaneContext
	Target string // name of the target

	side sideSummary
}

// Update handles the results of this pane's jobs, and ignores other messages.
func (v *Pane) Update(msg tea.Msg) tea.Cmd {
	switch r := msg.(type) {
	case keyInfoMsg:
		v.onKeyInfo(r)
	case partLoadedMsg:
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
	next     []catalog.Entry  // the keys that expire next
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

// partLoadedMsg carries an answer to its overview.
type partLoadedMsg struct {
	summary *Summary
	add     partMsg
}

var (
	ttlSpans  = []int64{60_000, hourMs, 24 * hourMs, 7 * 24 * hourMs, 30 * 24 * hourMs, 1 << 61}
	ttlLabels = []string{"a minute", "an hour", "a day", "7 days", "30 days", "later"}
)

const hourMs = 3600_000

// ShowOverview opens the overview and starts to load it.
func (v *Pane) ShowOverview(keys ui.Keyspace) tea.Cmd {
	o := v.newSummary(keys, sampleSize)
	o.Layout = func(width, _ int) []string { return o.draw(v, width) }
	v.Cancel(job.MeasuringFolder) // it continues afterwards
	v.Dialog = o
	return v.loadNext(o)
}

// newSummary returns a summary with all parts still to load. On a server it describes up to sample keys.
func (v *Pane) newSummary(keys ui.Keyspace, sample int) *Summary {
	o := &Summary{keys: keys.Total, Page: ui.Page{Title: "Overview of database " + client.Decimal(int64(v.DB))}}
	db, ix, delimiter := v.DB, v.Index, v.Delimiter
	if ix == nil {
		o.scanned, o.scope = keys.Found, "of scanned keys"
		if keys.Filtered {
			o.scope = "of found keys"
		}
		o.parts = []part{serverPart(v.Conn, db), samplePart(v.Conn, v.Clock, db, func(int) []string { return keys.Sample(sample) }), foldersPart(keys.Names, db, delimiter)}
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
			func(ctx context.Context) (partMsg, error) {
				p, err := ix.Page(ctx, catalog.Query{DB: db, Order: catalog.ByTTL, Lifetime: catalog.Expiring}, catalog.Mark{}, false, maxNextShown)
				return func(o *Summary) { o.next = p.Entries }, err
			},
		}
	}
	return o
}

// maxNextShown limits the keys that expire next.
const maxNextShown = 5

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
			smallsort.Sort(o.folders, func(a, b catalog.Amount) int { return cmp.Compare(b.Keys, a.Keys) })
		}, err
	}
}

// maxFoldersShown limits the folders on the overview.
const maxFoldersShown = 8

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
		names := sample(sampleSize)
		facts, err := c.Describe(ctx, db, names, now)
		return func(o *Summary) {
			o.sample, o.expiries, o.kinds = true, make([]int64, len(ttlSpans)), []catalog.Amount{}
			o.partial = "in a sample of " + display.Counted(int64(len(facts)), "key", "keys")
			for _, f := range facts {
				if f.Type == "" {
					continue // it has expired since
				}
				o.countSampled(f, now)
			}
			smallsort.Sort(o.kinds, func(a, b catalog.Amount) int { return cmp.Compare(b.Keys, a.Keys) })
			o.next = soonest(names, facts)
		}, err
	}
}

// soonest returns the described keys that expire next.
func soonest(names []string, facts []catalog.Facts) (next []catalog.Entry) {
	for i, f := range facts {
		if f.Type != "" && f.Expires != 0 {
			next = append(next, catalog.Entry{Name: names[i], Facts: f})
		}
	}
	smallsort.Sort(next, func(a, b catalog.Entry) int {
		return cmp.Or(cmp.Compare(a.Facts.Expires, b.Facts.Expires), cmp.Compare(a.Name, b.Name))
	})
	return next[:min(len(next), maxNextShown)]
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
		return partLoadedMsg{o, l}, err
	})
}

// onPart adds an answer and loads the next part, while the overview is open.
func (v *Pane) onPart(l partLoadedMsg) tea.Cmd {
	if l.summary == v.side.loading {
		l.add(l.summary)
		return v.loadSide()
	}
	if v.Dialog != l.summary {
		return nil
	}
	l.add(l.summary)
	return v.loadNext(l.summary)
}

// Press implements ui.Dialog.
func (o *Summary) Press(b *ui.PaneContext, k tea.KeyMsg) tea.Cmd {
	cmd := o.Page.Press(b, k)
	if b.Dialog == nil {
		b.Cancel(job.Summarizing)
	}
	return cmd
}

// bar renders n as a bar; all has the full width in cells.
func (v *Pane) bar(n, all int64, width int) string {
	if all <= 0 || n <= 0 {
		return ""
	}
	return v.Styles.Accent.Render(screen.Bar(float64(n)/float64(all), width))
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
	head := " keys" + size + " in "
	o.add(v.Styles.Accent.Render(total), head, screen.TruncateLeft(display.Whole(v.Target), max(width-len(total)-len(head)-2, 8)))
	o.heading(v, "Types", o.partial)
	numbers := make([]int64, len(o.kinds))
	for i, k := range o.kinds {
		numbers[i] = k.Keys
	}
	shares := percents(numbers, seen.Keys)
	for i, k := range o.kinds {
		o.row(v, display.Type(k.Name), k.Keys, seen.Keys, shares[i])
	}
	if o.kinds == nil {
		o.add(dim("…"))
	}
	o.drawFolders(v, seen.Bytes)
	o.drawNext(v, width)
	o.drawExpiries(v, seen.Keys)
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

// row adds a number with its bar, whose full width is all.
func (o *Summary) row(v *Pane, name string, n, all int64, note string) {
	o.add(display.Fit(name, o.plot.name), o.plot.countText(n), v.Styles.Dim.Render(note), " ", v.bar(n, all, o.plot.bar))
}

// percents returns each number as a percentage of of, in cells of equal width. They add up to the
// percentage of the sum. A number above 0 is never shown as 0%.
func percents(numbers []int64, of int64) []string {
	shown := make([]string, len(numbers))
	if of <= 0 {
		return shown
	}
	for i, share := range display.Shares(numbers, of, 100) {
		text := client.Decimal(share) + "%"
		if share == 0 && numbers[i] > 0 {
			text = "<1%"
		}
		shown[i] = display.FitRight(text, 5) + " "
	}
	return shown
}

// drawFolders shows the largest folders: by bytes where they are known, else by keys. bytes is the size
// of all keys.
func (o *Summary) drawFolders(v *Pane, bytes int64) {
	if len(o.folders) == 0 {
		return
	}
	if v.Index != nil {
		o.heading(v, "Largest folders", strings.TrimSpace("keys and bytes "+o.partial))
		folders := slices.Clone(o.folders)
		smallsort.Sort(folders, func(a, b catalog.Amount) int { return cmp.Compare(b.Bytes, a.Bytes) })
		for _, f := range folders[:min(len(folders), maxFoldersShown)] {
			o.add(display.Fit(display.Text(f.Name, o.plot.name), o.plot.name), o.plot.countText(f.Keys),
				v.Styles.Dim.Render(display.FitRight(display.Bytes(f.Bytes), 9)), " ", v.bar(f.Bytes, bytes, o.plot.bar))
		}
		return
	}
	o.heading(v, "Largest folders", o.scope)
	folders := o.folders[:min(len(o.folders), maxFoldersShown)]
	numbers := make([]int64, len(folders))
	for i, f := range folders {
		numbers[i] = f.Keys
	}
	shares := percents(numbers, o.scanned)
	for i, f := range folders {
		o.row(v, display.Text(f.Name, o.plot.name), f.Keys, o.scanned, shares[i])
	}
}

// drawNext shows the keys that expire next.
func (o *Summary) drawNext(v *Pane, width int) {
	now, shown := v.Now, 0
	for _, e := range o.next {
		if e.Facts.Expires <= now {
			continue
		}
		if shown++; shown == 1 {
			note := ""
			if o.sample {
				note = o.partial
			}
			o.heading(v, "Expires next", note)
		}
		o.add(v.Styles.TTL(e.Facts.Expires, now).Render(display.FitRight(display.Remaining(e.Facts.Expires-now), 7)), "  ", display.Text(e.Name, max(width-12, 1)))
	}
}

// drawExpiries shows how many of all keys, or of the sampled keys, expire within each span. Empty spans take no row.
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
		if n == 0 && all > 0 {
			continue
		}
		label := "never"
		if i < len(o.expiries) {
			label = ttlLabels[i]
		}
		o.row(v, label, n, all, shares[i])
	}
}
