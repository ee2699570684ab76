package keys

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// Where no index knows the bytes of keys, MEMORY USAGE is asked for a folder's: for all
// keys of a small one, of others for some, evenly from all, and the sum is an estimate. It
// waits until nothing is scanned, since each question may cost.

// maxMeasured is how many keys of a folder are asked about.
const maxMeasured = 50

// canMeasure reports whether the bytes of folders can be had.
func (l *Room) canMeasure() bool { return l.Index != nil || !l.Conn.Refusals.Has("MEMORY") }

// canMeasureNow reports whether they can be asked for now.
func (l *Room) canMeasureNow() bool {
	return l.Index != nil || l.canMeasure() && l.scan != nil && (l.scan.done || l.scan.paused())
}

// estimateBytes asks for the bytes of a folder's keys.
func (l *Room) estimateBytes(r row) tea.Cmd {
	conn, db, found := l.Conn, l.DB, l.scan.keys
	return l.Start(job.Sizing, func(ctx context.Context) (tea.Msg, error) {
		names, of := found.sampleUnder(r.Name, maxMeasured)
		m := sizedMsg{folders: []catalog.Amount{{Name: r.Name}}}
		if len(names) == 0 {
			return m, nil
		}
		calls := make([][][]byte, len(names))
		for i, name := range names {
			calls[i] = target.Command("MEMORY", "USAGE", name)
		}
		values, err := conn.Do(ctx, db, calls...)
		if err != nil {
			return nil, err
		}
		var bytes int64
		for _, v := range values {
			if !v.IsError() && !v.IsNull() {
				bytes += target.Number(v)
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

// sampleUnder is up to n names that begin with prefix, evenly from all, and how many there
// are.
func (g *gathered) sampleUnder(prefix string, n int) (names []string, of int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sort()
	low, high := g.bounds(prefix)
	of = high - low
	n = min(n, of)
	for i := range n {
		names = append(names, g.keys[low+i*of/n].name)
	}
	return names, of
}

// bytesText is the bytes of a folder, with ~ where they are an estimate.
func (t tally) bytesText() string {
	if t.sampled > 0 {
		return "~" + display.Bytes(t.bytes)
	}
	return display.Bytes(t.bytes)
}

// bytesNote says where the bytes of a folder are from.
func (l *Room) bytesNote(t tally) string {
	switch {
	case !l.canMeasure():
		return "The target does not tell bytes: it has no MEMORY USAGE for this user."
	case t.sized == unknown:
		return "Its bytes are asked for when nothing is scanned any more."
	case l.Index != nil:
		return t.bytesText() + " of names and values"
	case t.sampled > 0:
		return t.bytesText() + ", estimated from MEMORY USAGE of " + display.Counted(t.sampled, "key", "keys")
	}
	return t.bytesText() + " by MEMORY USAGE of each key"
}
