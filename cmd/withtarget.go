package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/catalog"
	"github.com/meowdis/meowdis/keyspace/stats"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
)

// smallCache suffices for a verb that seeks, or reads all keys once.
const smallCache = 2 << 20

// readOnly holds the options of a verb that does not write.
var readOnly = local.Options{ReadOnly: true, CacheBytes: smallCache}

// withTarget connects to the target, runs fn, and closes the connection.
func withTarget(ctx context.Context, s *streams, o *targets.Options, file local.Options, fn func(*targets.Conn) error) (err error) {
	t, err := o.Find(s.getenv, s.err)
	if err != nil {
		return err
	}
	c, err := o.Enter(ctx, t, file)
	if err != nil {
		return err
	}
	defer func() { err = closeConn(err, c) }()
	return printRefusal(s, fn(c))
}

// tables returns a reader of the keys in the file's tables.
func tables(c *targets.Conn) catalog.Snapshot {
	return catalog.Snapshot{Transact: c.File.Transact, DB: c.DB(), Now: time.Now().UnixMilli()}
}

// walk returns a lister that reads keys with commands. For a file it takes the bytes from the tables.
func walk(c *targets.Conn, detail keyspace.Detail) *keyspace.Lister {
	l := &keyspace.Lister{Client: c, Detail: detail}
	if c.File != nil {
		l.Bytes = tables(c).Measure
	}
	return l
}

// measureOf returns the source of the bytes of keys.
func measureOf(c *targets.Conn) stats.Measure {
	if c.File != nil {
		return stats.Tables
	}
	return stats.MemoryUsage
}

// printRefusal prints an error reply and returns exit.ErrReported for it. It returns any other error unchanged.
func printRefusal(s *streams, err error) error {
	var refusal keyspace.Refusal
	if errors.As(err, &refusal) {
		fmt.Fprintf(s.err, "meowdis: %s\n", refusal)
		return exit.ErrReported
	}
	return err
}

// ignoreStop returns nil for errEnough and for the end of the context, which are not failures; otherwise err.
func ignoreStop(ctx context.Context, err error) error {
	if errors.Is(err, errEnough) || exit.WasStopped(ctx, err) {
		return nil
	}
	return err
}

// errEnough stops a walk at the limit.
var errEnough = errors.New("enough")

// listOptions holds the flags of verbs that print one item per line.
type listOptions struct {
	json, null bool
	limit      int64
}

func (o *listOptions) addFlags(cmd *cobra.Command, what string) {
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON value per line")
	f.BoolVarP(&o.null, "null", "0", false, "end each line with a NUL byte instead of a newline")
	f.Int64Var(&o.limit, "limit", 0, "print at most `NUMBER` "+what)
}

func (o *listOptions) check(cmd *cobra.Command) error {
	if o.limit < 1 && cmd.Flags().Changed("limit") {
		return exit.Usagef("--limit %d: give at least 1", o.limit)
	}
	return flags.Exclusive(cmd, "json", "null")
}

// end returns the byte that ends an item.
func (o *listOptions) end() byte {
	if o.null {
		return 0
	}
	return '\n'
}

// beyond reports whether the n-th item exceeds the limit.
func (o *listOptions) beyond(n int64) bool { return o.limit > 0 && n > o.limit }

// command converts words to a command.
func command(words []string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}

// pause waits for d, or until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// onlyReads reports whether a command is known to write nothing.
func onlyReads(args [][]byte) bool {
	cmd := commands.Called(args)
	return cmd != nil && cmd.Flags&commands.ReadOnly != 0
}

// readsOnce reports whether a command is known to only read, and not to block.
func readsOnce(args [][]byte) bool {
	return onlyReads(args) && commands.Called(args).Flags&commands.Blocking == 0
}

// closeConn closes a connection and returns its error, unless the run already failed.
func closeConn(err error, c *targets.Conn) error {
	closed := c.Close()
	if err == nil || exit.Printed(err) && closed != nil {
		return closed
	}
	return err
}

func systemClock() int64 { return time.Now().UnixMilli() }
