package compare

import (
	"context"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/change"
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Pane is the pane that compares keys.
type Pane struct {
	*ui.PaneContext
	// History returns the history of keys in this session's changes.
	History func() *change.History
	// Scratch opens an empty in-memory data set, to rebuild an earlier state of a key. Nil
	// means that only keys can be compared, not their history.
	Scratch func(context.Context) (c keyspace.Client, end func() error, err error)
	Name    string         // of the target
	Others  func() []Other // returns the targets in other tabs; may be nil
	// MaxDifferences limits the listed keys that differ; 0 means 10,000.
	MaxDifferences int
}

// Begin compares the two marked keys, or asks what to compare key with.
func (r *Pane) Begin(key string, hasKey bool, marked []string) tea.Cmd {
	switch {
	case len(marked) == 2:
		return r.compareKeys(marked[0], marked[1])
	case !hasKey:
		r.Notice = "Select a key to compare, or mark two with space."
		return nil
	case r.Running(job.Writing):
		r.Notice = "A change is still running."
		return nil
	}
	past, db := r.History(), r.DB
	return r.Start(job.Comparing, func(ctx context.Context) (tea.Msg, error) {
		versions, err := past.Versions(ctx, db, key)
		return versionsMsg{key, past, versions}, err
	})
}

// versionsMsg lists the earlier states of a key.
type versionsMsg struct {
	key      string
	past     *change.History
	versions []change.Version
}

// comparedMsg carries a finished comparison, and the dialog to return to from it, or nil.
type comparedMsg struct {
	comparison
	behind ui.Dialog
}

// Update handles the results of this pane's jobs, and ignores other messages.
func (r *Pane) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case versionsMsg:
		r.pick(m)
	case comparedMsg:
		r.Dialog = newSheet("Compare", m.comparison, m.behind)
	case differencesMsg:
		r.onDifferences(m)
	}
	return nil
}

// pick asks what to compare a key with: another key, or its state before a change.
func (r *Pane) pick(m versionsMsg) {
	others := r.others()
	if r.Scratch == nil {
		m.versions = nil
	}
	if len(m.versions) == 0 && len(others) == 0 {
		r.askKey(m.key)
		return
	}
	const another, inTab = "another", "in tab "
	p := &ui.Picker{Title: "Compare " + display.Text(m.key, 40) + " with", ChooseLabel: "compare", Items: []ui.Item{{Label: "another key", Value: another}}}
	for i, v := range m.versions {
		p.Items = append(p.Items, ui.Item{Label: "before: " + v.Title, Value: client.Decimal(int64(i))})
	}
	for i, o := range others {
		p.Items = append(p.Items, ui.Item{Label: "this key in " + display.Text(o.Name, 40), Value: inTab + strconv.Itoa(i)})
	}
	p.At = 1
	p.Choose = func(value string) tea.Cmd {
		if value == another {
			r.askKey(m.key)
			return nil
		}
		if at, ok := strings.CutPrefix(value, inTab); ok {
			return r.compareIn(others[client.Atoi(at)], m.key, nil)
		}
		return r.compareBefore(m, m.versions[client.Atoi(value)])
	}
	r.Dialog = p
}

// askKey asks for the name of the other key.
func (r *Pane) askKey(key string) {
	r.Dialog = &ui.Question{
		Title: "Compare " + display.Text(key, 40) + " with", Note: `the name of a key; "in quotes" with escapes. Mark two keys to compare them directly.`,
		Prompt: screen.NewPrompt(""), Answer: func(name string) tea.Cmd {
			if raw, err := screen.Unquote(name); err == nil {
				name = raw
			}
			if name == "" {
				return nil
			}
			return r.compareKeys(key, name)
		},
	}
}

// compareKeys compares two keys.
func (r *Pane) compareKeys(left, right string) tea.Cmd {
	conn, db := r.Conn, r.DB
	return r.Start(job.Comparing, func(ctx context.Context) (tea.Msg, error) {
		a, err := read(ctx, conn, db, left, left)
		if err != nil {
			return nil, err
		}
		b, err := read(ctx, conn, db, right, right)
		return comparedMsg{compare(a, b), nil}, err
	})
}

// compareBefore compares a key's state before a change with its current state.
func (r *Pane) compareBefore(m versionsMsg, v change.Version) tea.Cmd {
	conn, clock, db, scratch := r.Conn, r.Clock, r.DB, r.Scratch
	return r.Start(job.Comparing, func(ctx context.Context) (msg tea.Msg, err error) {
		now, err := read(ctx, conn, db, m.key, m.key+", now")
		if err != nil {
			return nil, err
		}
		memory, end, err := scratch(ctx)
		if err != nil {
			return nil, err
		}
		defer func() {
			if failed := end(); err == nil {
				err = failed
			}
		}()
		then := client.NewConn(memory, clock)
		name, expires, err := m.past.Rebuild(ctx, conn, then, db, m.key, v)
		if err != nil {
			return nil, err
		}
		old, err := read(ctx, then, 0, name, name+", before: "+v.Title)
		old.expires = expires
		return comparedMsg{compare(old, now), nil}, err
	})
}
