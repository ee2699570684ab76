package keys

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/keyspace/indexes"
	"github.com/meowdis/meowdis/redis/resp"
)

// find selects the keys that a query of a search index finds.
type find struct {
	index   string // "" for none
	upstash bool   // an index of SEARCH.CREATE
	text    string // the query; "" for all documents
}

// indexesMsg carries the search indexes of the target.
type indexesMsg []indexes.Index

// ShowIndexes reads the search indexes and lists them.
func (l *Pane) ShowIndexes() tea.Cmd {
	if l.DB != 0 {
		l.Notice = "Search indexes cover database 0. Press " + l.KeyFor("database") + " to go there."
		return nil
	}
	do := l.searchDo()
	return l.Start(job.ReadingIndexes, func(ctx context.Context) (tea.Msg, error) {
		all, err := indexes.All(ctx, do)
		return indexesMsg(all), err
	})
}

// searchDo returns a function that runs commands in the database that indexes cover.
func (l *Pane) searchDo() indexes.Do {
	conn := l.Conn
	return func(ctx context.Context, call [][]byte) (resp.Value, error) {
		values, err := conn.Do(ctx, 0, call)
		if err != nil {
			return resp.Nil, err
		}
		return values[0], nil
	}
}

// onIndexes opens the list of indexes, unless the user has opened another dialog.
func (l *Pane) onIndexes(all indexesMsg) {
	switch {
	case l.Dialog != nil:
		return
	case len(all) == 0:
		l.Notice = "The target has no search indexes. FT.CREATE creates one."
		return
	}
	f := &ui.Finder{Title: "Search indexes", ChooseLabel: "open"}
	for i, ix := range all {
		f.Items = append(f.Items, ui.Item{Label: display.Text(ix.Name, 60), Note: indexNote(ix), Value: strconv.Itoa(i)})
	}
	f.Choose = func(value string) tea.Cmd {
		i, _ := strconv.Atoi(value)
		l.Dialog = &indexPage{Page: ui.Page{Title: "Index " + display.Text(all[i].Name, 60), Layout: ui.Wrapped(l.schema(all[i])...), Parent: f}, list: l, index: all[i]}
		return nil
	}
	f.Search("")
	l.Dialog = f
}

// indexNote describes the size of an index, and its progress while it is being built.
func indexNote(ix indexes.Index) string {
	if ix.Err != nil {
		return "?"
	}
	note := display.Counted(ix.Docs, "document", "documents") + " · " + display.Bytes(ix.Bytes)
	if ix.Indexed < 1 {
		note += " · " + percentIndexed(ix)
	}
	return note
}

func percentIndexed(ix indexes.Index) string {
	return fmt.Sprintf("%.0f %% indexed", 100*ix.Indexed-0.5)
}

// schema returns the lines about an index and its fields.
func (l *Pane) schema(ix indexes.Index) (lines []string) {
	if ix.Err != nil {
		return []string{" " + l.Styles.Failure.Render(display.Whole(ix.Err.Error()))}
	}
	fact := func(name, value string) {
		if value != "" {
			lines = append(lines, " "+l.Styles.Dim.Render(display.Fit(name, 11))+display.Whole(value))
		}
	}
	fact("keys", map[string]string{"HASH": "hashes", "JSON": "JSON documents", "STRING": "strings in JSON"}[ix.Type])
	fact("prefixes", strings.Join(ix.Prefixes, " "))
	fact("filter", ix.Filter)
	fact("options", strings.Join(ix.Options, " "))
	fact("documents", display.Grouped(ix.Docs))
	fact("bytes", display.Bytes(ix.Bytes))
	if ix.Indexed < 1 {
		fact("progress", percentIndexed(ix))
	}
	if ix.Failures > 0 {
		fact("failures", display.Counted(ix.Failures, "key", "keys")+" could not be indexed")
	}
	names, kinds := len("FIELD"), len("TYPE")
	for _, f := range ix.Fields {
		names, kinds = max(names, len(display.Whole(f.Name))), max(kinds, len(f.Type))
	}
	names = min(names, 40)
	lines = append(lines, "", " "+l.Styles.Dim.Render(display.Fit("FIELD", names)+"  "+display.Fit("TYPE", kinds)+"  OPTIONS"))
	for _, f := range ix.Fields {
		options := strings.Join(f.Options, " ")
		if f.Source != f.Name {
			options = strings.TrimSpace("of " + f.Source + " " + options)
		}
		lines = append(lines, " "+display.Fit(display.Whole(f.Name), names)+"  "+l.Styles.Accent.Render(display.Fit(f.Type, kinds))+"  "+display.Whole(options))
	}
	return lines
}

// indexPage shows an index, and asks for a query of it.
type indexPage struct {
	ui.Page
	list  *Pane
	index indexes.Index
}

// Press implements ui.Dialog.
func (p *indexPage) Press(b *ui.PaneContext, k tea.KeyMsg) tea.Cmd {
	if key := k.String(); p.index.Err == nil && (key == "/" || key == "enter") {
		p.list.editFind(p.index)
		return nil
	}
	return p.Page.Press(b, k)
}

// Footer implements ui.Dialog.
func (p *indexPage) Footer() [][2]string {
	return [][2]string{{"/", "query"}, {"↑↓", "scroll"}, {"esc", "back"}}
}

// editFind asks for a query, and lists the keys that it finds.
func (l *Pane) editFind(ix indexes.Index) {
	q := l.query
	text := ""
	if q.find.index == ix.Name && q.find.upstash == ix.Upstash {
		text = q.find.text
	}
	note := `words, -without, "a phrase", @field:word, @tag:{red|blue}, @number:[10 50]; empty for all documents`
	if ix.Upstash {
		note = `JSON such as {"title":"red","price":{"$lt":50}}; empty for all documents`
	}
	l.Dialog = &ui.Question{Title: "Query of " + display.Text(ix.Name, 40), Note: note, Prompt: screen.NewPrompt(text), Answer: func(text string) tea.Cmd {
		q.find = find{ix.Name, ix.Upstash, strings.TrimSpace(text)}
		if l.InValue = false; q == l.query {
			return l.RefreshAll()
		}
		l.search(q)
		return nil
	}}
}

// foundFeed returns a feed of the keys that the query of an index finds. If the order or another filter needs more than
// names, it asks for the facts of each key.
func (l *Pane) foundFeed(q query, match func(string) bool) feed {
	do, index, conn, clock := l.searchDo(), l.Index, l.Conn, l.Clock
	keeps, asked, detail := l.catalogQuery(q, match), q.needsFacts() || q.kind != "", q.detail()
	return func(ctx context.Context, s scan) (scannedMsg, error) {
		offset, _ := strconv.Atoi(s.next)
		found, err := indexes.Find(ctx, do, q.find.index, q.find.upstash, q.find.text, offset, s.count)
		next := offset + len(found.Keys)
		f := scannedMsg{looked: max(len(found.Keys), 1), next: strconv.Itoa(next), done: len(found.Keys) == 0 || int64(next) >= found.Total}
		if err != nil {
			return f, err
		}
		var names []string
		for _, name := range found.Keys {
			if match == nil || match(name) {
				names = append(names, name)
			}
		}
		switch {
		case !asked:
			for _, name := range names {
				f.entries = append(f.entries, catalog.Entry{Name: name})
			}
		case index != nil:
			f.entries, err = factsInIndex(ctx, index, keeps, names, clock)
		default:
			var described []keyspace.Key
			if described, err = conn.Lister(0, clock, detail).DescribeAll(ctx, client.Names(names)); err == nil {
				f.entries, err = entriesIn(described, keeps, clock)
			}
		}
		return f, err
	}
}

// factsInIndex returns the keys among names that q selects, with their facts.
func factsInIndex(ctx context.Context, index client.Index, q catalog.Query, names []string, clock func() int64) ([]catalog.Entry, error) {
	entries, err := index.Facts(ctx, q.DB, names)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e catalog.Entry) bool { return !q.Accepts(e.Facts, clock()) })
	if q.IsSized() || q.Order == catalog.ByBytes {
		return sized(ctx, index, q, entries)
	}
	return entries, nil
}
