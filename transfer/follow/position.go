package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/transfer"
)

// Position is the state of a target that follows a source.
type Position struct {
	State  State
	Whole  bool   // the target had no other keys, so a new snapshot may replace them all
	ID     string // replication ID of the source
	Offset int64  // bytes of the stream that were applied
	DB     int    // the database that the next command of the stream applies to
}

// State is the phase of a migration.
type State string

const (
	Loading   State = "loading" // the snapshot is incomplete
	Following State = "following"
	Done      State = "done" // clients use the target
)

// String formats the position as the value of its key.
func (p Position) String() string {
	return fmt.Sprintf("%s %t %s %d %d", p.State, p.Whole, p.ID, p.Offset, p.DB)
}

// ParsePosition parses String's result.
func ParsePosition(s string) (p Position, err error) {
	if n, err := fmt.Sscanf(s, "%s %t %s %d %d", &p.State, &p.Whole, &p.ID, &p.Offset, &p.DB); n != 5 || err != nil {
		return p, fmt.Errorf("%q is not a position of copy --follow", s)
	}
	switch p.State {
	case Loading, Following, Done:
		return p, nil
	}
	return p, fmt.Errorf("unknown state %q of copy --follow", p.State)
}

// Key returns the key of database 0 that holds the position of a target in the stream of source.
func Key(source string) []byte { return []byte(transfer.PositionPrefix + source) }

// ErrTaken reports that another process has changed the position.
var ErrTaken = errors.New("another process has changed the target's position: only one copy --follow may write to a target")

// ReadPosition reads the position of a target. ok is false if it has none.
func ReadPosition(ctx context.Context, s keyspace.Session, key []byte) (p Position, ok bool, err error) {
	if err := transfer.Select(ctx, s, 0); err != nil {
		return p, false, err
	}
	v, err := s.Do(ctx, []byte("GET"), key)
	switch {
	case err != nil:
		return p, false, err
	case v.IsError():
		return p, false, transfer.Refusal(v.Str)
	case v.IsNull():
		return p, false, nil
	}
	p, err = ParsePosition(string(keyspace.Text(v)))
	return p, err == nil, err
}

// WritePosition sets the position of a target.
func WritePosition(ctx context.Context, s keyspace.Session, key []byte, p Position) error {
	if err := transfer.Select(ctx, s, 0); err != nil {
		return err
	}
	v, err := s.Do(ctx, []byte("SET"), key, []byte(p.String()))
	if err == nil && v.IsError() {
		err = transfer.Refusal(v.Str)
	}
	return err
}

// keptKey names the set of the keys that the target keeps.
func keptKey(position []byte) []byte { return append(slices.Clone(position), ":kept"...) }

// copiedKey names the set of the definitions that were copied.
func copiedKey(position []byte) []byte { return append(slices.Clone(position), ":definitions"...) }

// settingsKey names the hash of the settings of the source that the copy has changed.
func settingsKey(position []byte) []byte { return append(slices.Clone(position), ":settings"...) }

// WriteSetting records the value of a setting of a server before the copy changes it.
func WriteSetting(ctx context.Context, s keyspace.Session, position []byte, address string, was []byte) error {
	if err := transfer.Select(ctx, s, 0); err != nil {
		return err
	}
	v, err := s.Do(ctx, []byte("HSETNX"), settingsKey(position), []byte(address), was)
	if err == nil && v.IsError() {
		err = transfer.Refusal(v.Str)
	}
	return err
}

// ReadSettings returns the recorded settings by address.
func ReadSettings(ctx context.Context, s keyspace.Session, position []byte) (map[string]string, error) {
	if err := transfer.Select(ctx, s, 0); err != nil {
		return nil, err
	}
	v, err := s.Do(ctx, []byte("HGETALL"), settingsKey(position))
	if err == nil && v.IsError() {
		err = transfer.Refusal(v.Str)
	}
	was := map[string]string{}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		was[string(keyspace.Text(v.Elems[i]))] = string(keyspace.Text(v.Elems[i+1]))
	}
	return was, err
}

// ForgetSettings deletes the recorded settings.
func ForgetSettings(ctx context.Context, s keyspace.Session, position []byte) error {
	if err := transfer.Select(ctx, s, 0); err != nil {
		return err
	}
	_, err := s.Do(ctx, []byte("DEL"), settingsKey(position))
	return err
}

// WriteKept records the KeptName of each key that the target keeps.
func WriteKept(ctx context.Context, s keyspace.Session, position []byte, names [][]byte) error {
	return changeSet(ctx, s, "SADD", keptKey(position), names)
}

// ReadKept returns the set for Options.Kept.
func ReadKept(ctx context.Context, s keyspace.Session, position []byte) (map[string]struct{}, error) {
	return readSet(ctx, s, keptKey(position), struct{}{})
}

// AddCopied records definitions that are copied to the target.
func AddCopied(ctx context.Context, s keyspace.Session, position []byte, names [][]byte) error {
	return changeSet(ctx, s, "SADD", copiedKey(position), names)
}

// RemoveCopied forgets a definition that AddCopied has recorded.
func RemoveCopied(ctx context.Context, s keyspace.Session, position, name []byte) error {
	return changeSet(ctx, s, "SREM", copiedKey(position), [][]byte{name})
}

// ReadCopied returns the definitions that AddCopied has recorded.
func ReadCopied(ctx context.Context, s keyspace.Session, position []byte) (map[string]bool, error) {
	return readSet(ctx, s, copiedKey(position), true)
}

// changeSet adds members to a set of database 0, or removes them.
func changeSet(ctx context.Context, s keyspace.Session, command string, key []byte, members [][]byte) error {
	if err := transfer.Select(ctx, s, 0); err != nil {
		return err
	}
	for len(members) > 0 {
		n := min(len(members), serverCommands)
		v, err := s.Do(ctx, append([][]byte{[]byte(command), key}, members[:n]...)...)
		if err == nil && v.IsError() {
			err = transfer.Refusal(v.Str)
		}
		if err != nil {
			return err
		}
		members = members[n:]
	}
	return nil
}

// readSet returns a set of database 0 as the keys of a map.
func readSet[V any](ctx context.Context, s keyspace.Session, key []byte, value V) (map[string]V, error) {
	if err := transfer.Select(ctx, s, 0); err != nil {
		return nil, err
	}
	v, err := s.Do(ctx, []byte("SMEMBERS"), key)
	if err == nil && v.IsError() {
		err = transfer.Refusal(v.Str)
	}
	members := map[string]V{}
	for _, e := range v.Elems {
		members[string(keyspace.Text(e))] = value
	}
	return members, err
}

// Forget deletes the position of a target that clients use.
func Forget(ctx context.Context, s keyspace.Session, key []byte) error {
	if err := transfer.Select(ctx, s, 0); err != nil {
		return err
	}
	for _, key := range [][]byte{key, keptKey(key), copiedKey(key)} { // apart: in a cluster they are in different slots
		if _, err := s.Do(ctx, []byte("DEL"), key); err != nil {
			return err
		}
	}
	return nil
}
