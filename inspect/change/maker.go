package change

import (
	"github.com/meowdis/meowdis/inspect/client"
)

// Maker makes changes, saves what they overwrite in the journal, and undoes them. Jobs
// call it and use nothing beside it.
type Maker struct {
	*client.Conn
	Index   client.Index // nil: keys are found by SCAN
	Journal *Journal     // undoes changes
	Redo    *Journal     // redoes undone changes
	Clock   func() int64
}
