package move

import (
	"context"
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

// NewWriter returns a sink that writes keys to c.
func NewWriter(c *targets.Conn, existing transfer.Existing, db func(int) int, notify transfer.Notify) *transfer.Writer {
	o := WriteOptions(existing, notify)
	o.DB = db
	if c.File != nil {
		ToFile(&o, NewTransaction(c.File, c.DB()))
	}
	return transfer.NewWriter(c, o)
}

// WriteOptions returns the options of a sink that this process writes to a server.
func WriteOptions(existing transfer.Existing, notify transfer.Notify) transfer.WriteOptions {
	return transfer.WriteOptions{Existing: existing, Notify: notify, Run: thisRun(), RunEnded: runEnded}
}

// ToFile changes the options for a file, whose commands run in t.
func ToFile(o *transfer.WriteOptions, t transfer.Transaction) {
	o.BatchCommands, o.Transaction = fileBatch, t
}

// Sorted returns source in an order that suits c. written is called whenever the sink has received every key that was
// read, and must flush it.
func Sorted(ctx context.Context, c *targets.Conn, source transfer.Source, written func() error) transfer.Source {
	if c.File == nil {
		return source
	}
	return transfer.SortByName(ctx, source, transfer.SortOptions{Written: written})
}

// A file gets fileBatch commands in one batch.
const fileBatch = 8192

// Transaction runs all commands on a file in one transaction until Commit.
type Transaction struct {
	*engine.Session
	*local.Hold
}

// NewTransaction returns a session on a file. It locks nothing before its first command.
func NewTransaction(f *local.Store, db int, options ...engine.Option) Transaction {
	hold := f.Hold()
	t := Transaction{engine.New(hold, options...).Session(), hold}
	t.Select(db)
	return t
}

// thisRun returns the name of this process among all that move keys: a hash of the host name, and the process ID.
func thisRun() string { return fmt.Sprintf("%s.%d", machine(), os.Getpid()) }

// machine returns a short hash of this machine's name.
func machine() string {
	name, _ := os.Hostname() // machines without a name are treated as one
	sum := fnv.New32a()
	sum.Write([]byte(name))
	return strconv.FormatUint(uint64(sum.Sum32()), 36)
}

// runEnded reports whether the process of a run has ended. It is false for a process on another machine.
func runEnded(run string) bool {
	where, number, _ := strings.Cut(run, ".")
	pid, err := strconv.Atoi(number)
	if err != nil || where != machine() || pid == os.Getpid() {
		return false
	}
	p, err := os.FindProcess(pid)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
