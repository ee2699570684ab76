package change

import (
	"context"
	"fmt"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// maxRenamed limits the keys renamed at once: all names are in memory.
const maxRenamed = 1_000_000

// Names returns the names of the keys in s.
func (c *Maker) Names(ctx context.Context, db int, s Selection) (names []string, err error) {
	if len(s.Folders) == 0 {
		return s.Names, nil
	}
	err = c.walk(ctx, db, s, func(some []string) error {
		if names = append(names, some...); len(names) > maxRenamed {
			return fmt.Errorf("that is more than %s keys", display.Grouped(maxRenamed))
		}
		return nil
	})
	return names, err
}

// Renaming is a list of keys and their new names.
type Renaming struct {
	Old, New []string
	Same     int // number of keys that keep their name
	Clashes  []Clash
}

// Clash is a new name that a key cannot get, and the reason.
type Clash struct{ Old, New, Why string }

// maxClashes limits the reported clashes.
const maxClashes = 1000

// Plan applies p to names, and finds the new names that are taken or invalid.
func (c *Maker) Plan(ctx context.Context, db int, names []string, p Pattern) (r Renaming, err error) {
	taken := make(map[string]string, len(names)) // the old name, by new name
	for _, old := range names {
		name := p.Apply(old)
		first, twice := taken[name]
		switch {
		case name == old:
			r.Same++
			continue
		case twice:
			r.clash(old, name, "also the new name of "+display.Text(first, 40))
			continue
		case name == "":
			r.clash(old, name, "not a valid name")
			continue
		}
		taken[name] = old
		r.Old, r.New = append(r.Old, old), append(r.New, name)
	}
	for from := 0; from < len(r.New) && len(r.Clashes) < maxClashes; from += KeysAtOnce {
		job.CostOf(ctx).Progress(int64(from), int64(len(r.New)))
		to := min(from+KeysAtOnce, len(r.New))
		there, err := c.existing(ctx, db, r.New[from:to])
		if err != nil {
			return r, err
		}
		for i, is := range there {
			if is {
				r.clash(r.Old[from+i], r.New[from+i], "already exists")
			}
		}
	}
	return r, nil
}

func (r *Renaming) clash(old, name, why string) {
	if len(r.Clashes) < maxClashes {
		r.Clashes = append(r.Clashes, Clash{old, name, why})
	}
}

// existing reports for each name whether the key exists.
func (c *Maker) existing(ctx context.Context, db int, names []string) ([]bool, error) {
	return existing(ctx, c.Conn, db, names)
}

func existing(ctx context.Context, c *client.Conn, db int, names []string) ([]bool, error) {
	calls := make([][][]byte, len(names))
	for i, name := range names {
		calls[i] = client.Command("EXISTS", name)
	}
	values, err := c.Do(ctx, db, calls...)
	if err != nil {
		return nil, err
	}
	there := make([]bool, len(names))
	for i, v := range values {
		if err := client.ReplyError(v); err != nil {
			return nil, err
		}
		there[i] = client.Number(v) != 0
	}
	return there, nil
}

// RenameKeys returns a KeyChange that renames keys by p. It overwrites no key, and neither does
// its undo: both check that the name is free.
func RenameKeys(p Pattern) KeyChange {
	return func(db int, olds []string) transaction {
		names := make([]string, len(olds))
		for i, old := range olds {
			names[i] = p.Apply(old)
		}
		all := append(append([]string{}, olds...), names...)
		t := transaction{db: db, places: []keysIn{{db, all}}, checks: []checksIn{{db: db, checks: make([]Check, len(all))}}}
		for i, name := range all {
			t.checks[0].checks[i].Call = client.Command(freeName, name)
		}
		calls := renames(olds, names)
		t.backOf = func(ctx context.Context, c *client.Conn, db int) (back [][][]byte, err error) {
			there, err := existing(ctx, c, db, all)
			if err != nil {
				return nil, err
			}
			calls, back = nil, [][][]byte{}
			for i, old := range olds {
				switch {
				case !there[i]: // it has expired since
				case there[len(olds)+i]:
					return nil, fmt.Errorf("%s: %w", display.Text(names[i], 40), errNameTaken)
				default:
					calls = append(calls, client.Command("RENAMENX", old, names[i]))
					back = append(back, client.Command("RENAMENX", names[i], old))
				}
			}
			return back, nil
		}
		t.calls = func([]string) ([][][]byte, error) { return calls, nil }
		t.verify = func(values []resp.Value) error { return checkRenamed(calls, values) }
		return t
	}
}

// checkRenamed returns an error if a reply to one of calls, each a RENAMENX, says that the name is taken.
func checkRenamed(calls [][][]byte, values []resp.Value) error {
	for i, v := range values {
		if !v.IsError() && client.Number(v) == 0 {
			return fmt.Errorf("%s: %w", display.Text(string(calls[i][2]), 40), errNameTaken)
		}
	}
	return nil
}

func renames(olds, names []string) (calls [][][]byte) {
	for i, old := range olds {
		calls = append(calls, client.Command("RENAMENX", old, names[i]))
	}
	return calls
}
