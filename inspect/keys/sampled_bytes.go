package keys

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Without an index, folder sizes come from MEMORY USAGE: of all keys in a small folder, of an even
// sample in a large one, where the sum is an estimate. It runs while no scan does, since each command
// may cost.

// maxMeasured limits the keys measured per folder.
const maxMeasured = 50

// canMeasure reports whether folder sizes are available.
func (l *Pane) canMeasure() bool { return l.Index != nil || !l.Conn.Refusals.Has("MEMORY") }

// canMeasureNow reports whether folder sizes can be requested now.
func (l *Pane) canMeasureNow() bool {
	return l.Index != nil || l.canMeasure() && l.scan != nil && (l.scan.done || l.scan.paused())
}

// estimateBytes requests the size of a folder in a job.
func (l *Pane) estimateBytes(r row) tea.Cmd {
	conn, db, found := l.Conn, l.DB, l.scan.keys
	return l.Start(job.MeasuringFolder, func(ctx context.Context) (tea.Msg, error) {
		names, of := found.sampleUnder(r.Name, maxMeasured)
		m := sizedMsg{folders: []catalog.Amount{{Name: r.Name}}}
		if len(names) == 0 {
			return m, nil
		}
		calls := make([][][]byte, len(names))
		for i, name := range names {
			calls[i] = client.Command("MEMORY", "USAGE", name)
		}
		values, err := conn.Do(ctx, db, calls...)
		if err != nil {
			return nil, err
		}
		var bytes int64
		for _, v := range values {
			if !v.IsError() && !v.IsNull() {
				bytes += client.Number(v)
				m.sampled++
			}
		}
		if m.sampled > 0 {
			m.folders[0].Bytes = bytes * int64(of) / m.sampled
			if m.sampled == int64(of) {
				m.folders[0].Bytes, m.sampled = bytes, 0
			}
		}
		return m, nil
	})
}

// sampleUnder returns up to n evenly spaced names with a prefix, and the number of all such names.
func (g *scannedKeys) sampleUnder(prefix string, n int) (names []string, of int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	low, high := g.bounds(prefix)
	of = high - low
	n = min(n, of)
	for i := range n {
		names = append(names, g.names()[low+i*of/n].name)
	}
	return names, of
}

// bytesText returns the size of a folder, with ~ if it is an estimate.
func (t tally) bytesText() string {
	if t.sampled > 0 {
		return "~" + display.Bytes(t.bytes)
	}
	return display.Bytes(t.bytes)
}

// bytesNote describes where the size of a folder comes from.
func (l *Pane) bytesNote(t tally) string {
	switch {
	case !l.canMeasure():
		return "Size unknown: MEMORY USAGE is missing or not permitted."
	case t.sized == unknown:
		return "Its size follows after the scan."
	case l.Index != nil:
		return t.bytesText() + " of names and values"
	case t.sampled > 0:
		return t.bytesText() + ", estimated from MEMORY USAGE of " + display.Counted(t.sampled, "key", "keys")
	}
	return t.bytesText() + " by MEMORY USAGE of each key"
}
