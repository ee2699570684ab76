package change

import (
	"github.com/meowdis/meowdis/inspect/client"
)

// Maker makes changes, saves the overwritten data in the journal, and undoes changes. Jobs
// use nothing else.
type Maker struct {
	*client.Conn
	Index       client.Index // nil: keys are found by SCAN
	Journal     *Journal     // undoes changes
	RedoJournal *Journal     // redoes undone changes
	Clock       func() int64
}
