package change

import (
	"github.com/meowdis/meowdis/inspect/target"
)

// Maker makes changes, keeps what they overwrite in the journal, and undoes them. Its
// work is for jobs: it is all that they may touch.
type Maker struct {
	*target.Conn
	Index   target.Index // nil: keys are found by SCAN
	Journal *Journal     // what undoes changes
	Redo    *Journal     // what makes those again that were undone
	Clock   func() int64
}
