package compare

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/transfer"
	"github.com/meowdis/meowdis/transfer/filelist"
)

// Other is the target in another tab.
type Other struct {
	Name  string
	Conn  *client.Conn
	Index client.Index // nil: keys are found by SCAN
}

// ttlTolerance is the difference of two expiries that counts as none, as in meowdis diff.
const ttlTolerance = time.Second

// CompareAll compares the keys of the database with the keys in another tab, and lists the ones that differ.
func (r *Pane) CompareAll() tea.Cmd {
	others := r.others()
	switch {
	case r.Running(job.Writing):
		r.Notice = "A change is still running."
		return nil
	case len(others) == 0:
		r.Notice = "No other target is open. Press " + r.KeyFor("tab_open") + " to open one."
		return nil
	case len(others) == 1:
		return r.diff(others[0])
	}
	p := &ui.Picker{Title: "Compare all keys with", ChooseLabel: "compare", Choose: func(at string) tea.Cmd { return r.diff(others[client.Atoi(at)]) }}
	for i, o := range others {
		p.Items = append(p.Items, ui.Item{Label: display.Text(o.Name, 60), Value: strconv.Itoa(i)})
	}
	r.Dialog = p
	return nil
}

func (r *Pane) others() []Other {
	if r.Others == nil {
		return nil
	}
	return r.Others()
}

// differencesMsg carries the keys that differ between this target and another one.
type differencesMsg struct {
	other    Other
	found    []transfer.Difference
	keys     int64 // compared keys
	unread   int64 // keys that could not be compared
	moreLeft bool  // there are more differences
}

// diff compares all keys of the database with the keys of another target.
func (r *Pane) diff(o Other) tea.Cmd {
	list, otherList := listOf(r.Index), listOf(o.Index)
	conn, db, most := r.Conn, r.DB, cmp.Or(r.MaxDifferences, 10_000)
	return r.Start(job.Comparing, func(ctx context.Context) (tea.Msg, error) {
		m := differencesMsg{other: o}
		inner, stop := context.WithCancel(ctx)
		defer stop()
		keys, err := transfer.Diff(inner, conn.In(db), o.Conn.In(db), transfer.DiffOptions{
			Read: transfer.ReadOptions{Databases: []int{db}}, A: list, B: otherList, Tolerance: ttlTolerance,
			Found: func(d transfer.Difference) {
				if len(m.found) < most {
					m.found = append(m.found, d)
				} else {
					m.moreLeft = true
					stop()
				}
			},
			Notify: func(*transfer.Key, error) { m.unread++ },
			Seen: func(p transfer.Part) {
				if p.First {
					m.keys++
					job.CostOf(ctx).Progress(m.keys, -1)
				}
			},
		})
		if m.moreLeft && ctx.Err() == nil {
			return m, nil
		}
		m.keys = keys
		return m, err
	})
}

// listOf returns a function that lists the keys of a file, or nil for another target.
func listOf(index client.Index) transfer.List {
	if index == nil {
		return nil
	}
	return filelist.New(index, transfer.ReadOptions{})
}

// onDifferences lists the keys that differ. A chosen key is compared, and closing the comparison returns to the list.
func (r *Pane) onDifferences(m differencesMsg) {
	compared := display.Counted(m.keys, "key", "keys") + " compared"
	if m.unread > 0 {
		compared += ", " + display.Counted(m.unread, "key", "keys") + " not readable"
	}
	if len(m.found) == 0 {
		r.Notice = "No difference: " + compared + "."
		return
	}
	title := display.Counted(int64(len(m.found)), "difference", "differences") + " from " + display.Text(m.other.Name, 30)
	if m.moreLeft { // the comparison stopped early
		title = "The first " + title
	} else {
		title += ", " + compared
	}
	f := &ui.Finder{Title: title, ChooseLabel: "compare"}
	smallsort.Sort(m.found, func(a, b transfer.Difference) int { return bytes.Compare(a.Key.Name, b.Key.Name) })
	for i, d := range m.found {
		note := r.describe(d, m.other)
		f.Items = append(f.Items, ui.Item{Label: display.Text(string(d.Key.Name), 60), Note: note, Also: note, Value: strconv.Itoa(i)})
	}
	f.Choose = func(at string) tea.Cmd { return r.compareIn(m.other, string(m.found[client.Atoi(at)].Key.Name), f) }
	f.Search("")
	r.Dialog = f
}

// describe describes a difference in a few words.
func (r *Pane) describe(d transfer.Difference, o Other) string {
	switch {
	case d.What == transfer.OnlyInA:
		return "only in " + display.Text(r.Name, 20)
	case d.What == transfer.OnlyInB:
		return "only in " + display.Text(o.Name, 20)
	case d.What == "type":
		return fmt.Sprintf("type: %s | %s", display.Text(d.A, 12), display.Text(d.B, 12))
	}
	return d.What
}

// compareIn compares a key with the key of the same name in another target.
func (r *Pane) compareIn(o Other, key string, behind ui.Dialog) tea.Cmd {
	conn, db, here := r.Conn, r.DB, r.Name
	return r.Start(job.Comparing, func(ctx context.Context) (tea.Msg, error) {
		a, err := read(ctx, conn, db, key, key+" in "+here)
		if err != nil {
			return nil, err
		}
		b, err := read(ctx, o.Conn, db, key, key+" in "+o.Name)
		return comparedMsg{compare(a, b), behind}, err
	})
}
