package change

import (
	"github.com/meowdis/meowdis/inspect/target"
)

// Maker makes changes, saves what they overwrite in the journal, and undoes them. Jobs
// call it and use nothing beside it.
type Maker struct {
	*target.Conn
	Index   target.Index // nil: keys are found by SCAN
	Journal *Journal     // undoes changes
	Redo    *Journal     // redoes undone changes
	Clock   func() int64
}
