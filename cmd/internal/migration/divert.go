package migration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/slot"
	"github.com/meowdis/meowdis/remote/cluster"
	"github.com/meowdis/meowdis/transfer"
	"github.com/meowdis/meowdis/transfer/follow"
)

const replace = transfer.Replace

func targetsCluster(c *targets.Conn) *cluster.Session {
	s, _ := targets.Plain(c.Session).(*cluster.Session)
	return s
}

func sortedKeys(set map[int]bool) []int { return slices.Sorted(maps.Keys(set)) }

// errDatabase reports a source that a cluster cannot hold.
var errDatabase = errors.New("the source uses other databases than 0, and a cluster has no others: copy them apart, with -n and --to-database 0")

// divert copies the keys of the commands that must not run in the target, and returns the others. A cluster as the target
// has no transactions over all keys, so it gets keys and not commands. So do slots of the source that have moved.
//
// A key is copied after the command that changed it, so what arrives is at least as new; a later command copies it again.
func (m *Migration) divert(ctx context.Context, f *feed, calls [][][]byte) (left [][][]byte, err error) {
	if m.shards != nil {
		if err := m.noteMoved(ctx, f, calls); err != nil {
			return nil, err
		}
	}
	wholeKeys := m.dst.IsCluster()
	var names [][]byte
	libraries, flushed := false, false
	for _, args := range calls {
		name, keys := strings.ToUpper(string(args[0])), follow.KeysOf(args)
		switch {
		case name == "FUNCTION":
			libraries = true
		case name == "FLUSHALL" || name == "FLUSHDB":
			flushed = true
		case name == "CLUSTER": // Valkey's replicas learn which slots move
		case name == "SWAPDB", name == "SELECT" && string(args[1]) != "0":
			return nil, follow.Final(errDatabase)
		case !wholeKeys && !m.anyMoved(keys):
			left = append(left, args)
		case name == "SELECT", strings.HasSuffix(name, "PUBLISH"):
		case len(keys) == 0:
			m.noteRefused(name, errors.New("its keys are unknown"))
		case name == "MOVE", name == "COPY" && leavesDatabase(args):
			return nil, follow.Final(errDatabase)
		default:
			names = append(names, keys...)
		}
	}
	if libraries {
		err = m.copyLibraries(ctx)
	}
	if flushed && err == nil {
		err = m.copyFlushed(ctx, f)
	}
	if err == nil {
		err = m.copyAgain(ctx, 0, names)
	}
	if err != nil {
		return nil, fmt.Errorf("copying keys that changed: %w", err)
	}
	return left, nil
}

// leavesDatabase reports whether a COPY is into another database.
func leavesDatabase(args [][]byte) bool {
	for i := 3; i+1 < len(args); i++ {
		if strings.EqualFold(string(args[i]), "DB") && string(args[i+1]) != "0" {
			return true
		}
	}
	return false
}

func (m *Migration) anyMoved(keys [][]byte) bool {
	return m.shards != nil && slices.ContainsFunc(keys, func(key []byte) bool { return m.shards.moved[slot.Of(key)] })
}

// noteMoved records the slots that another master than their owner changes.
func (m *Migration) noteMoved(ctx context.Context, f *feed, calls [][][]byte) error {
	var slots []int
	for _, args := range calls {
		for _, key := range follow.KeysOf(args) {
			if at := slot.Of(key); m.shards.owner[at] != f && !m.shards.moved[at] && !slices.Contains(slots, at) {
				slots = append(slots, at)
			}
		}
	}
	return m.markMoved(ctx, slots)
}

// copyLibraries replaces the libraries of functions of the target by the source's.
func (m *Migration) copyLibraries(ctx context.Context) error {
	all, err := transfer.ReadLibraries(ctx, m.src)
	if err != nil {
		return err
	}
	there, err := transfer.ReadLibraries(ctx, m.dst)
	if err != nil {
		return err
	}
	var extra []string
	transfer.DiffLibraries(there, all, true, func(d transfer.Difference) {
		if d.What == transfer.OnlyInA {
			extra = append(extra, d.Library)
		}
	})
	for _, name := range extra {
		if _, err := m.dst.Do(ctx, []byte("FUNCTION"), []byte("DELETE"), []byte(name)); err != nil {
			return err
		}
	}
	return m.loadDefinitions(ctx, transfer.Definitions{Libraries: all})
}

// copyFlushed copies the keys again that FLUSHALL may have deleted: one master's, or all.
func (m *Migration) copyFlushed(ctx context.Context, f *feed) error {
	return m.eachTargetKey(ctx, func(names [][]byte) error {
		if m.shards != nil {
			names = slices.DeleteFunc(names, func(name []byte) bool {
				at := slot.Of(name)
				return m.shards.owner[at] != f && !m.shards.moved[at]
			})
		}
		return m.copyAgain(ctx, 0, names)
	})
}

// eachTargetKey calls visit with the names of the target's keys, a page at a time.
func (m *Migration) eachTargetKey(ctx context.Context, visit func(names [][]byte) error) error {
	if err := transfer.Select(ctx, m.dst, 0); err != nil {
		return err
	}
	cursor := "0"
	for {
		v, err := m.dst.Do(ctx, []byte("SCAN"), []byte(cursor), []byte("COUNT"), strconv.AppendInt(nil, keysAtOnce, 10))
		if err != nil {
			return err
		}
		elems, next, bad := keyspace.Scanned(v)
		if bad != nil {
			return bad
		}
		var names [][]byte
		for _, e := range elems {
			if name := keyspace.Text(e); !transfer.IsOwn(name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			if err := visit(names); err != nil {
				return err
			}
		}
		if cursor = next; next == "0" {
			return nil
		}
	}
}

// copySlots copies all keys of some slots again.
func (m *Migration) copySlots(ctx context.Context, slots []int) error {
	if len(slots) == 0 {
		return nil
	}
	in := map[int]bool{}
	for _, at := range slots {
		in[at] = true
		v, err := m.src.Do(ctx, []byte("CLUSTER"), []byte("GETKEYSINSLOT"), strconv.AppendInt(nil, int64(at), 10), strconv.AppendInt(nil, 1<<30, 10))
		if err == nil {
			err = refusal(v)
		}
		if err != nil {
			return err
		}
		var names [][]byte
		for _, e := range v.Elems {
			names = append(names, e.Str)
		}
		if err := m.copyAgain(ctx, 0, names); err != nil {
			return err
		}
	}
	// Keys that the source does not have any more.
	return m.eachTargetKey(ctx, func(names [][]byte) error {
		return m.copyAgain(ctx, 0, slices.DeleteFunc(names, func(name []byte) bool { return !in[slot.Of(name)] }))
	})
}

// Keys that change hands while they are read are read again, up to mostReads times.
const mostReads = 100

// copyAgain makes keys of a database of the target equal to the source's: it copies them, or deletes
// keys that the source does not have.
func (m *Migration) copyAgain(ctx context.Context, db int, names [][]byte) error {
	kept, err := m.keptNames(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(names, slices.Compare)
	names = slices.CompactFunc(names, func(a, b []byte) bool { return string(a) == string(b) })
	names = slices.DeleteFunc(names, func(name []byte) bool {
		_, keeps := kept[follow.KeptName(db, name)]
		return keeps || transfer.IsOwn(name)
	})
	for reads := 0; len(names) > 0; reads++ {
		n := min(len(names), keysAtOnce)
		missed, err := m.copyOnce(ctx, db, names[:n])
		if err != nil {
			return err
		}
		if names = names[n:]; len(missed) == 0 {
			reads = -1
			continue
		}
		if reads == mostReads {
			return fmt.Errorf("%q changes each time it is read", missed[0])
		}
		names = append(names, missed...)
		select {
		case <-time.After(time.Duration(reads) * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// copyOnce copies keys, and returns the keys that were deleted while they were read, but exist.
func (m *Migration) copyOnce(ctx context.Context, db int, names [][]byte) (missed [][]byte, err error) {
	for _, s := range []keyspace.Session{m.src, m.dst} {
		if err := transfer.Select(ctx, s, db); err != nil {
			return nil, err
		}
	}
	o := move.WriteOptions(transfer.Replace, m.notify)
	o.KeepLeftovers = true
	if m.dst.File != nil {
		move.ToFile(&o, move.NewTransaction(m.dst.File, db))
	}
	w := transfer.NewWriter(m.dst, o)
	seen := map[string]bool{}
	note := func(k *transfer.Key, err error) {
		if !errors.Is(err, transfer.ErrGone) {
			seen[string(k.Name)] = true
			m.notify(k, err)
		}
	}
	err = transfer.Run(ctx, transfer.FromKeysWithRules(ctx, m.src, names...), w, note, func(p transfer.Part) {
		if p.Last && p.Err == nil {
			seen[string(p.Key.Name)] = true
		}
	})
	if err != nil {
		return nil, err
	}
	var calls [][][]byte
	var unseen, gone [][]byte
	for _, name := range names {
		if !seen[string(name)] {
			unseen = append(unseen, name)
			calls = append(calls, [][]byte{[]byte("EXISTS"), name})
		}
	}
	if len(calls) == 0 {
		return nil, nil
	}
	replies, err := m.src.Pipeline(ctx, calls)
	if err != nil {
		return nil, err
	}
	for i, v := range replies {
		switch {
		case v.IsError():
			return nil, transfer.Refusal(v.Str)
		case v.Int > 0:
			missed = append(missed, unseen[i])
		default:
			gone = append(gone, unseen[i])
		}
	}
	return missed, m.deleteKeys(ctx, map[int][][]byte{db: gone})
}

// keptNames returns the names of the keys that the target keeps.
func (m *Migration) keptNames(ctx context.Context) (map[string]struct{}, error) {
	var err error
	if m.kept == nil {
		m.kept, err = follow.ReadKept(ctx, m.dst, m.key)
	}
	return m.kept, err
}

// forgetPositions deletes the positions of a target that clients use.
func (m *Migration) forgetPositions(ctx context.Context) error {
	err := follow.Forget(ctx, m.dst, m.key)
	if m.shards == nil {
		return err
	}
	for n := range m.shards.next {
		err = errors.Join(err, follow.Forget(ctx, m.dst, m.feedKey(n+1)))
	}
	_, failed := m.dst.Do(ctx, []byte("DEL"), m.movedKey())
	return errors.Join(err, failed)
}
