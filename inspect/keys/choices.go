package keys

import (
	"context"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/store/keytype"
)

// requery opens a picker whose choice changes the query.
func (l *Pane) requery(title string, items []ui.Item, at int, change func(*query, int)) tea.Cmd {
	for i := range items {
		items[i].Value = strconv.Itoa(i)
	}
	l.Dialog = &ui.Picker{Title: title, Items: items, At: max(at, 0), Choose: func(value string) tea.Cmd {
		q := l.query
		i, _ := strconv.Atoi(value)
		change(&q, i)
		l.InValue = false
		l.search(q)
		return nil
	}}
	return nil
}

// PickType lets the user choose the type of the keys to list.
func (l *Pane) PickType() tea.Cmd {
	items := []ui.Item{{Label: "all"}}
	all := []string{""}
	for _, t := range keytype.Types {
		items, all = append(items, ui.Item{Label: t.DisplayName()}), append(all, t.Name)
	}
	l.requery("Show keys of type", items, slices.Index(all, l.kind), func(q *query, i int) {
		l.Cancel(job.CountingTypes)
		q.kind = all[i]
	})
	return l.countTypes()
}

// typesMsg carries the number of keys of each type.
type typesMsg []catalog.Amount

// countTypes counts the keys of every type in a job. Only an index can.
func (l *Pane) countTypes() tea.Cmd {
	p, ok := l.Dialog.(*ui.Picker)
	if !ok || l.Index == nil {
		return nil
	}
	p.Purpose = job.CountingTypes
	sums := l.Index.Sum(l.DB, "", l.Delimiter)
	return l.Start(job.CountingTypes, func(ctx context.Context) (tea.Msg, error) {
		for {
			if err := sums.ReadSlice(ctx); err != nil {
				return nil, err
			}
			if _, done := sums.Progress(); done {
				return typesMsg(sums.Types()), nil
			}
		}
	})
}

// onTypes shows the numbers of keys in the menu of types.
func (l *Pane) onTypes(counts typesMsg) {
	p, ok := l.Dialog.(*ui.Picker)
	if !ok || p.Purpose != job.CountingTypes {
		return
	}
	total := int64(0)
	for _, c := range counts {
		total += c.Keys
		for i := range p.Items {
			if p.Items[i].Label == display.Type(c.Name) {
				p.Items[i].Note = display.Counted(c.Keys, "key", "keys")
			}
		}
	}
	p.Items[0].Note = display.Counted(total, "key", "keys")
}

var lifeNames = []string{"any", "expiring", "within an hour", "persistent"}

// PickTTL lets the user filter the keys by their time to live.
func (l *Pane) PickTTL() tea.Cmd {
	items := []ui.Item{{Label: "any"}, {Label: "expiring", Note: "with a TTL"}, {Label: "within an hour"}, {Label: "persistent", Note: "without a TTL"}}
	return l.requery("Show keys by time to live", items, int(l.life), func(q *query, i int) { q.life = catalog.Lifetime(i) })
}

var orderNames = []string{"name", "TTL", "count", "bytes", "type", "last change"}

// PickOrder lets the user choose the order of the list.
func (l *Pane) PickOrder() tea.Cmd {
	notes := []string{"", "soonest first", "most items first", "largest first", "flat list", "flat list, latest first"}
	if l.Index == nil {
		notes = []string{"", "asks for every key", "asks for every key", "MEMORY USAGE of every key", "flat list, asks for every key", ""}
	}
	var items []ui.Item
	var orders []catalog.Order
	for i, name := range orderNames {
		// Without an index, the last change of a key is unknown.
		if o := catalog.Order(i); l.Index != nil || o != catalog.ByUpdated && (o != catalog.ByBytes || l.canMeasure()) {
			items = append(items, ui.Item{Label: name, Note: notes[i]})
			orders = append(orders, o)
		}
	}
	return l.requery("Sort by", items, slices.Index(orders, l.order), func(q *query, i int) {
		q.order, q.reverse = orders[i], false
	})
}

// clickTitle sorts by the column at x, or reverses the order if it is already the sort column.
func (l *Pane) clickTitle(x int) {
	c := l.keyColumns()
	type title struct {
		width int
		order catalog.Order
	}
	titles := []title{{2 + c.key, catalog.ByName}, {1 + c.kind, catalog.ByType}, {1 + c.ttl, catalog.ByTTL}}
	if l.shares() {
		titles = []title{titles[0], {1 + c.share(), l.titleColumn()}}
	}
	if c.items > 0 {
		titles = append(titles, title{1 + c.items, catalog.BySize})
	}
	order := catalog.ByName
	for _, column := range append(titles, title{1 + c.bytes, l.lastColumn()}) {
		if order = column.order; x < column.width {
			break
		}
		x -= column.width
	}
	q := l.query
	if is := l.titleColumn(); is == order {
		q.reverse = !q.reverse
	} else {
		q.order, q.reverse = order, false
	}
	l.search(q)
}

// titleColumn returns the order of the sort column. The last column also shows the time of changes.
func (l *Pane) titleColumn() catalog.Order {
	if l.order == catalog.ByBytes || l.order == catalog.ByUpdated {
		return l.lastColumn()
	}
	return l.order
}

// lastColumn returns the order that a click on the last title sets. Without an index, bytes are unknown.
func (l *Pane) lastColumn() catalog.Order {
	if l.Index == nil || l.keyColumns().items == 0 {
		return catalog.BySize
	}
	return catalog.ByBytes
}

// ReverseOrder reverses the order of the list.
func (l *Pane) ReverseOrder() tea.Cmd {
	q := l.query
	q.reverse = !q.reverse
	l.search(q)
	return nil
}

// ChangeView switches between the tree and the flat list.
func (l *Pane) ChangeView() tea.Cmd {
	q := l.query
	switch {
	case q.HasFilter():
		l.Notice = "Filtered keys are a flat list. Press " + l.KeyFor("all_keys") + " to see all keys."
		return nil
	case !q.tree() && !q.flat: // no folder has this order
		q.order, q.reverse = catalog.ByName, false
	default:
		q.flat = !q.flat
	}
	l.searchKeepingCursor(q)
	return nil
}

// PickDatabase lets the user choose another database. The choice arrives as DatabaseChosen.
func (l *Pane) PickDatabase() tea.Cmd {
	p := &ui.Picker{Title: "Database", Purpose: job.CountingDBs, At: l.DB, Choose: func(value string) tea.Cmd {
		l.Cancel(job.CountingDBs)
		db, err := strconv.Atoi(value)
		if err != nil {
			return nil
		}
		return l.Emit(DatabaseChosen{db})
	}}
	p.Items = databaseItems(nil)
	p.At = min(l.DB, len(p.Items)-1)
	l.Dialog = p
	return l.countDatabases()
}

// databaseItems returns the databases with their numbers of keys, or all possible databases before they
// are counted.
func databaseItems(counts client.KeyCounts) []ui.Item {
	n := client.MostDatabases
	if len(counts) > 0 {
		n = len(counts)
	}
	items := make([]ui.Item, n)
	for i := range items {
		name := strconv.Itoa(i)
		items[i] = ui.Item{Label: name, Note: "…", Value: name}
		if len(counts) == 0 {
			continue
		}
		switch n := counts[i]; {
		case n > 0:
			items[i].Note = display.Counted(n, "key", "keys")
		case n == 0:
			items[i].Note = "empty"
		default:
			items[i].Note = "? keys"
		}
	}
	return items
}
