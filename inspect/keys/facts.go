package keys

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// countedMsg carries the number of keys in the database; -1 if the target refuses DBSIZE.
type countedMsg int64

// Count fetches the number of keys in the database.
func (l *Pane) Count() tea.Cmd {
	conn, db := l.Conn, l.DB
	return l.Start(job.Counting, func(ctx context.Context) (tea.Msg, error) {
		v, err := conn.One(ctx, db, client.Command("DBSIZE"))
		if conn.Refusals.Has("DBSIZE") {
			return countedMsg(-1), nil
		}
		return countedMsg(client.Number(v)), err
	})
}

// describedMsg carries the facts about some names.
type describedMsg struct {
	names []string
	facts []catalog.Facts
}

func (l *Pane) describe(names []string) tea.Cmd {
	conn, index, clock, db := l.Conn, l.Index, l.Clock, l.DB
	return l.Start(job.Describing, func(ctx context.Context) (tea.Msg, error) {
		if index == nil {
			found, err := conn.Describe(ctx, db, names, clock())
			return describedMsg{names, found}, err
		}
		d := describedMsg{names: names}
		entries, err := index.Facts(ctx, db, names)
		for _, e := range entries {
			d.facts = append(d.facts, e.Facts)
		}
		return d, err
	})
}

// onDescribed stores facts.
func (l *Pane) onDescribed(d describedMsg) {
	for i, name := range d.names {
		at := l.rowIndex(name, false)
		if at < 0 {
			continue
		}
		r := &l.rows[at]
		r.stale = false
		if d.facts[i].Type == "" {
			r.gone = l.Now
			l.forgetKey(name)
			continue
		}
		bytes := r.Facts.Bytes
		if r.Facts, r.gone = d.facts[i], 0; r.Facts.Bytes < 0 {
			r.Facts.Bytes = bytes // as of the pass that sorted
		}
	}
}

func (l *Pane) countDatabases() tea.Cmd {
	conn := l.Conn
	return l.Start(job.CountingDBs, func(ctx context.Context) (tea.Msg, error) {
		return conn.CountDatabases(ctx)
	})
}
