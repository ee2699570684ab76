package cmd

import (
	"context"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store/keytype"
	"github.com/meowdis/meowdis/transfer"
)

// connectExisting connects to a target whose keys are read. A file must exist.
func connectExisting(ctx context.Context, o *targets.Options, t targets.Target) (*targets.Conn, error) {
	return o.Enter(ctx, t, local.Options{ReadOnly: t.Path != local.Memory, CacheBytes: readCache})
}

// writable refuses once, rather than for each key, to write to a file of another program.
func writable(ctx context.Context, s *streams, c *targets.Conn) error {
	if c.File == nil || c.File.ReadOnly() == "" {
		return nil
	}
	return refusedWith(ctx, s, "READONLY "+c.Target.String()+": "+c.File.ReadOnly())
}

// The caches of moves. The keys of a file are read in the order of SCAN, from random pages, and each run of a load is
// written in the order of names. With these sizes a copy of a million keys takes less than 200 MB.
const (
	readCache  = 48 << 20
	writeCache = 32 << 20
)

// toWrite holds the options of a file that keys are moved to.
var toWrite = local.Options{SweepEvery: noSweep, CacheBytes: writeCache, SingleConn: true, BulkLoad: true}

// connectToRead connects to the target of the flags. It restricts read to the chosen database, if the user chose one.
func connectToRead(ctx context.Context, s *streams, o *targets.Options, chosen bool, read *transfer.ReadOptions) (*targets.Conn, error) {
	t, err := o.Find(s.getenv, s.err)
	if err != nil {
		return nil, err
	}
	c, err := connectExisting(ctx, o, t)
	if err == nil && (chosen || c.Chosen()) {
		read.Databases = []int{c.DB()}
	}
	return c, err
}

// countResult defines the JSON output of --dry-run.
type countResult struct {
	Action   string           `json:"action"`
	DryRun   bool             `json:"dry_run"`
	Keys     int64            `json:"keys"`
	Existing *int64           `json:"existing,omitempty"` // at the destination, if any
	Types    map[string]int64 `json:"types"`
}

// printCounts prints the result of --dry-run.
func printCounts(s *streams, keys *move.Options, there transfer.Counts, did string, destination bool) error {
	found := countResult{Action: did, DryRun: true, Keys: there.Keys, Types: map[string]int64{}}
	text := fmt.Sprintf("%s would be %s", move.Count(there.Keys, "key"), did)
	if destination {
		found.Existing = &there.Existing
		text += fmt.Sprintf(", %d of them already exist", there.Existing)
	}
	text += "\n"
	for _, name := range keytype.Labels() {
		t, _ := keytype.Named(name)
		if n := there.Types[transfer.Type(t.Name)]; n > 0 {
			found.Types[name] = n
			text += fmt.Sprintf("%-7s %d\n", name, n)
		}
	}
	if keys.JSON {
		return move.WriteJSON(s.out, found)
	}
	_, err := io.WriteString(s.out, text)
	return err
}

// countOnly implements --dry-run of the verbs that write a file.
func countOnly(ctx context.Context, s *streams, from *targets.Options, chosen bool, keys *move.Options, read transfer.ReadOptions, did string) (err error) {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	c, err := connectToRead(ctx, s, from, chosen, &read)
	if err != nil {
		return err
	}
	defer func() { err = closeConn(err, c) }()
	read.List = move.List(c, read)
	bar := newProgress(s, "counting", "keys", total(ctx, c, read))
	there, err := transfer.Preview(ctx, c, read, nil, transfer.Change{}, bar.Add)
	bar.End()
	if exit.WasStopped(ctx, err) {
		return exit.Stopped(ctx, "nothing was "+did)
	}
	if err != nil {
		return err
	}
	return printCounts(s, keys, there, did, false)
}

// newReport returns a report on stderr, with a progress bar if stderr is a terminal.
func newReport(s *streams, what, unit string, total int64) *move.Report {
	return &move.Report{Notes: s.err, Bar: newProgress(s, what, unit, total)}
}

// newKeysReport returns a report of the keys of src, which it counts by node if src is a cluster. src is nil for none that
// could be.
func newKeysReport(s *streams, what string, total int64, src *targets.Conn) *move.Report {
	r := newReport(s, what, "keys", total)
	if src != nil {
		r.ByNode(what, src.NodeOf())
	}
	return r
}

// newMoveReport returns a report of keys moved from src, with JSON on stdout if a flag asks for it.
func newMoveReport(s *streams, keys *move.Options, what string, total int64, src *targets.Conn) *move.Report {
	r := newKeysReport(s, what, total, src)
	if keys.JSON {
		r.JSON = s.out
	}
	return r
}
