package inspect

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/catalog"
)

// The bytes of the folders on the screen fill in behind the numbers of their keys.
// Those of a few keys are read folder by folder; for many, one pass over the file in
// its own order, which serves a whole level, costs less.

// passPays is by how much less a key costs in such a pass.
const passPays = 4

// levelSurvey is the pass for the folders of a level.
type levelSurvey struct {
	*catalog.Survey
	db     int
	level  string
	folder string // the one that is wanted
}

// sized is the bytes of a folder; surveyedLevel is a pass that is a step further.
type (
	sized         struct{ folders []catalog.Amount }
	surveyedLevel struct{ *levelSurvey }
)

// unsized is the folder on the screen with the fewest keys of those whose bytes are not
// known, and the number of keys of all such folders in its level.
func (l *keyList) unsized() (least row, keys int64, ok bool) {
	if l.halted {
		return least, 0, false
	}
	sums := map[string]int64{}
	for _, r := range l.visible() {
		t, known := l.tallies[r.Name]
		if !r.Folder || !known || t.sized && !t.resized {
			continue
		}
		sums[r.level] += t.keys
		if !ok || t.keys < l.tallies[least.Name].keys {
			least, ok = r, true
		}
	}
	return least, sums[least.level], ok
}

// size adds up bytes that the screen lacks.
func (m *Model) size() tea.Cmd {
	r, keys, ok := m.keys.unsized()
	if !ok {
		return nil
	}
	ix, db := m.options.Index, m.db
	if keys < bigFolder || keys < m.total/passPays {
		return m.start(sizing, func(ctx context.Context) (tea.Msg, error) {
			n, err := ix.Weigh(ctx, db, r.Name)
			return sized{[]catalog.Amount{{Name: r.Name, Bytes: n}}}, err
		})
	}
	if s := m.levelSurvey; s == nil || s.level != r.level || s.db != db {
		m.levelSurvey = &levelSurvey{ix.Survey(db, r.level, m.options.Delimiter), db, r.level, r.Name}
	}
	s := m.levelSurvey
	return m.start(sizing, func(ctx context.Context) (tea.Msg, error) { return surveyedLevel{s}, s.Look(ctx) })
}

// surveys takes the sums in when the pass is over.
func (m *Model) surveys(s surveyedLevel) {
	if _, done := s.Looked(); done {
		m.levelSurvey = nil
		// It may have met too many other folders to know of this one.
		m.sizes(sized{[]catalog.Amount{{Name: s.folder}}})
		m.sizes(sized{s.Folders()})
	}
}

func (m *Model) sizes(s sized) {
	for _, f := range s.folders {
		if t, known := m.keys.tallies[f.Name]; known {
			t.bytes, t.sized, t.resized = f.Bytes, true, false
			m.keys.tallies[f.Name] = t
		}
	}
}
