package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
)

// preview says in words what commands would do to the keys of a target.
type preview struct {
	conn   *targets.Conn
	lister *keyspace.Lister
	// made holds the keys that earlier commands would create (true) or delete (false), by database and name. The target
	// has not changed, so their sizes are unknown.
	made map[string]bool
	db   int
}

// newPreview connects to the target for reading. A missing file is an empty database.
func newPreview(ctx context.Context, o *targets.Options, t targets.Target) (*preview, error) {
	if t.IsNew() {
		t.Path = local.Memory
	}
	c, err := o.Enter(ctx, t, local.Options{ReadOnly: t.URL == nil && t.Path != local.Memory, SweepEvery: noSweep, CacheBytes: smallCache})
	if err != nil {
		return nil, err
	}
	return &preview{conn: c, lister: walk(c, keyspace.Measured), made: map[string]bool{}, db: c.DB()}, nil
}

// touched holds keys that a command would change in the same way.
type touched struct {
	names []string
	bytes int64 // of the keys whose size is known
}

func (t *touched) add(k keyspace.Key) {
	t.names = append(t.names, display.Whole(string(k.Name)))
	t.bytes += max(k.Bytes, 0)
}

// text returns the number of keys, their size and the first names: "2 keys (1.2 KB): a, b".
func (t *touched) text() string {
	const most = 5
	size := ""
	if t.bytes > 0 {
		size = " (" + display.Bytes(t.bytes) + ")"
	}
	names := strings.Join(t.names[:min(most, len(t.names))], ", ")
	if more := len(t.names) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s%s: %s", display.Counted(int64(len(t.names)), "key", "keys"), size, names)
}

// describe returns what args would do.
func (p *preview) describe(ctx context.Context, args [][]byte) (string, error) {
	cmd := commands.Called(args)
	if cmd == nil {
		return "would run " + display.Clipped(string(args[0])) + ", which meowdis does not know", nil
	}
	switch {
	case cmd.Name == "FLUSHALL" || cmd.Name == "FLUSHDB":
		return p.flush(ctx, cmd.Name == "FLUSHALL")
	case cmd.Name == "SELECT":
		return p.choose(ctx, args)
	case cmd.Has(commands.Scripts) && cmd.Flags&commands.ReadOnly == 0:
		return "would run a script, which may change any key; meowdis explain shows its calls", nil
	case cmd.Flags&commands.Write == 0:
		return "would change no key", nil
	}
	refs := cmd.KeysOf(args)
	if len(refs) == 0 {
		return "would change no key", nil
	}
	return p.changes(ctx, args, refs)
}

// changes describes a write command by its effect on each of its keys.
func (p *preview) changes(ctx context.Context, args [][]byte, refs []commands.KeyRef) (string, error) {
	var deleted, replaced, changed, created touched
	for _, ref := range refs {
		letters := ref.Access.Names()[0]
		k, exists, err := p.find(ctx, args[ref.Pos])
		if err != nil {
			return "", err
		}
		onlyDeletes := ref.Access&commands.Deletes != 0
		switch {
		case letters == "RO":
		case letters == "RM" && exists:
			deleted.add(k)
			p.set(k.Name, false)
		case letters == "OW" && exists:
			replaced.add(k)
		case exists:
			changed.add(k)
		case letters == "OW", letters == "RW" && !onlyDeletes:
			created.add(k)
			p.set(k.Name, true)
		}
	}
	var parts []string
	for _, part := range []struct {
		verb string
		keys *touched
	}{{"delete", &deleted}, {"replace", &replaced}, {"change", &changed}, {"create", &created}} {
		if len(part.keys.names) > 0 {
			parts = append(parts, "would "+part.verb+" "+part.keys.text())
		}
	}
	if len(parts) == 0 {
		return "would change nothing: no such key", nil
	}
	if len(deleted.names)+len(replaced.names) > 0 {
		parts = append(parts, "cannot be undone")
	}
	return strings.Join(parts, "; "), nil
}

// find returns a key with its bytes, and whether it exists after the earlier commands.
func (p *preview) find(ctx context.Context, name []byte) (keyspace.Key, bool, error) {
	if exists, known := p.made[p.id(name)]; known {
		return keyspace.Key{Name: name, Bytes: -1}, exists, nil
	}
	k, err := p.lister.DescribeOne(ctx, name)
	if errors.Is(err, keyspace.ErrMissing) {
		return keyspace.Key{Name: name, Bytes: -1}, false, nil
	}
	return k, err == nil, err
}

func (p *preview) id(name []byte) string { return strconv.Itoa(p.db) + ":" + string(name) }

func (p *preview) set(name []byte, exists bool) { p.made[p.id(name)] = exists }

// flush describes FLUSHDB, or FLUSHALL if all is set.
func (p *preview) flush(ctx context.Context, all bool) (string, error) {
	if all {
		v, err := p.conn.Do(ctx, []byte("INFO"), []byte("keyspace"))
		if err != nil {
			return "", err
		}
		var sample liveSample
		sample.take(targets.InfoFacts(v))
		return fmt.Sprintf("would delete all %s of all databases; cannot be undone", display.Counted(sample.keys, "key", "keys")), nil
	}
	v, err := p.conn.Do(ctx, []byte("DBSIZE"))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("would delete all %s of database %d; cannot be undone", display.Counted(v.Int, "key", "keys"), p.db), nil
}

// choose selects the database of the following commands.
func (p *preview) choose(ctx context.Context, args [][]byte) (string, error) {
	v, err := p.conn.Do(ctx, args...)
	if err != nil || v.IsError() {
		return "would fail: " + string(v.Str), err
	}
	p.db = p.conn.DB()
	p.lister = walk(p.conn, keyspace.Measured)
	return fmt.Sprintf("would use database %d", p.db), nil
}
