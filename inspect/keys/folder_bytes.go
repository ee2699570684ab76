package keys

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/catalog"
)

// The bytes of the folders on the screen are computed after their numbers of keys. The bytes of a few
// keys are read folder by folder. For many keys one pass over the file in its own order is cheaper, and
// serves a whole level.

// passSpeedup divides the cost of a key in such a pass.
const passSpeedup = 4

// levelSums tracks the pass over the folders of a level.
type levelSums struct {
	*catalog.Summing
	db     int
	level  string
	folder string // the folder it was started for
}

// sizedMsg carries the bytes of some folders; levelSummedMsg reports the progress of a pass.
type (
	sizedMsg struct {
		folders []catalog.Amount
		sampled int64 // the number of keys that the bytes are estimated from; 0: the bytes are exact
	}

	levelSummedMsg struct{ *levelSums }
)

// unsized returns the folder on the screen with the fewest keys among the folders of unknown size, and
// the number of keys of all such folders in its level.
func (l *window) unsized() (least row, keys int64, ok bool) {
	if l.halted {
		return least, 0, false
	}
	sums := map[string]int64{}
	for _, r := range l.visible() {
		t := l.tallies[r.Name]
		if !r.Folder || t.counted == unknown || t.sized == upToDate {
			continue
		}
		sums[r.level] += t.keys
		if !ok || t.keys < l.tallies[least.Name].keys {
			least, ok = r, true
		}
	}
	return least, sums[least.level], ok
}

// sumBytes computes missing folder sizes in a job.
func (l *Pane) sumBytes() tea.Cmd {
	r, keys, ok := l.unsized()
	if !ok {
		return nil
	}
	if l.Index == nil {
		return l.estimateBytes(r)
	}
	ix, db := l.Index, l.DB
	if keys < bigFolder || keys < l.Total/passSpeedup {
		return l.Start(job.MeasuringFolder, func(ctx context.Context) (tea.Msg, error) {
			n, err := ix.Bytes(ctx, db, r.Name)
			return sizedMsg{folders: []catalog.Amount{{Name: r.Name, Bytes: n}}}, err
		})
	}
	if s := l.levelSums; s == nil || s.level != r.level || s.db != db {
		l.levelSums = &levelSums{ix.Sum(db, r.level, l.Delimiter), db, r.level, r.Name}
	}
	s := l.levelSums
	return l.Start(job.MeasuringFolder, func(ctx context.Context) (tea.Msg, error) { return levelSummedMsg{s}, s.ReadSlice(ctx) })
}

// onLevelSummed stores the sums when the pass ends.
func (l *Pane) onLevelSummed(s levelSummedMsg) {
	if _, done := s.Progress(); done {
		l.levelSums = nil
		// The pass drops folders when there are too many, so it may not report this one.
		l.onSized(sizedMsg{folders: []catalog.Amount{{Name: s.folder}}})
		l.onSized(sizedMsg{folders: s.Folders()})
	}
}

func (l *Pane) onSized(s sizedMsg) {
	for _, f := range s.folders {
		if t := l.tallies[f.Name]; t.counted != unknown {
			t.bytes, t.sized, t.sampled = f.Bytes, upToDate, s.sampled
			l.tallies[f.Name] = t
		}
	}
}
