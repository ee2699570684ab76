package move

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/transfer"
)

// NewWriter is the sink of all that moves keys to c.
func NewWriter(c *targets.Conn, existing transfer.Existing, db func(int) int, notify transfer.Notify) *transfer.Writer {
	o := transfer.WriteOptions{Existing: existing, DB: db, Notify: notify, Run: thisRun(), Gone: hasEnded}
	if c.File != nil {
		o.AtOnce = atOnceFile
		o.Held = holding(c.File, c.DB())
	}
	return transfer.NewWriter(c, o)
}

// atOnceFile is how many commands that move keys go to a file together.
const atOnceFile = 8192

// heldSession is a session on a file, all in one transaction until Commit.
type heldSession struct {
	*engine.Session
	*local.Hold
}

func holding(f *local.Store, db int) transfer.Held {
	hold := f.Hold()
	s := heldSession{engine.New(hold).Session(), hold}
	s.Select(db)
	return s
}

// thisRun names this process among all that move keys: its machine, and its number there.
func thisRun() string { return fmt.Sprintf("%s.%d", machine(), os.Getpid()) }

// machine is this machine's name, in few letters.
func machine() string {
	name, _ := os.Hostname() // machines without one look alike
	sum := fnv.New32a()
	sum.Write([]byte(name))
	return strconv.FormatUint(uint64(sum.Sum32()), 36)
}

// hasEnded reports whether the process of a run is known to have ended: one of this
// machine that is not there.
func hasEnded(run string) bool {
	where, number, _ := strings.Cut(run, ".")
	pid, err := strconv.Atoi(number)
	if err != nil || where != machine() || pid == os.Getpid() {
		return false
	}
	p, err := os.FindProcess(pid)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
