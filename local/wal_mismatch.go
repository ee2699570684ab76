package local

import (
	"errors"
	"path/filepath"
	"sync"
	"time"
)

// Processes share a file through the WAL and the shared memory beside it. If one of these is deleted or
// replaced, processes that have the file open use the old one, and a process that opens the file later would
// use another: each would overwrite the acknowledged writes of the other. So a file is not opened while
//
//   - another process has the file open, and uses another shared memory than the one under its name,
//   - another process uses the shared memory, and has another file open,
//   - another process has the file open, and the WAL is missing.
//
// A process is in such a state for a moment while it opens or closes the file.

// errWALMismatch is returned if another process uses the file with another WAL or shared memory.
var errWALMismatch = errors.New("another process has it open, but the file, its WAL (-wal) or its shared memory (-shm) was deleted " +
	"or replaced: end that process, and start again")

// walMismatchTimeout limits how long opening waits for another process to repair that, or to close the file.
var walMismatchTimeout = defaultBusyTimeout

// connected counts the connections of this process to each file. A process does not see its own locks, and
// would lose them if it opened and closed a file that it has locked.
var connected = struct {
	sync.Mutex
	files map[string]int // by path
}{files: map[string]int{}}

// claim counts a connection to the file at path. With check, it fails while the file must not be opened.
func claim(path string, check bool) (release func(), err error) {
	if path == Memory {
		return func() {}, nil
	}
	path = realPath(path)
	late := time.Now().Add(walMismatchTimeout)
	for {
		connected.Lock()
		if !check || connected.files[path] > 0 || !hasWALMismatch(path) {
			break
		}
		connected.Unlock()
		if time.Now().After(late) {
			return nil, errWALMismatch
		}
		time.Sleep(5 * time.Millisecond)
	}
	defer connected.Unlock()
	connected.files[path]++
	return func() {
		connected.Lock()
		defer connected.Unlock()
		if connected.files[path]--; connected.files[path] == 0 {
			delete(connected.files, path)
		}
	}, nil
}

// realPath returns the path of the file that SQLite opens for path.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return path
}
