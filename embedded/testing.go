package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"sync"

	"github.com/meowdis/meowdis/transfer"
)

// TB is the part of *testing.T and *testing.B that RunT needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Test is the database of a test. Its methods fail the test if the database fails.
type Test struct {
	*DB
	tb   TB
	addr func() string
}

// RunT opens an empty database in memory and closes it when the test ends. Parallel tests each have their own.
func RunT(tb TB, with ...Option) *Test {
	tb.Helper()
	db, err := Open(Memory, with...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	t := &Test{DB: db, tb: tb}
	t.addr = sync.OnceValue(t.listen)
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("closing the database: %v", err)
		}
	})
	return t
}

// Addr returns the host and port of a server for the database on the loopback interface. The first call starts the
// server. Clients in this process can use Dialer without it.
func (t *Test) Addr() string {
	t.tb.Helper()
	addr := t.addr()
	if addr == "" {
		t.tb.Fatalf("no free port")
	}
	return addr
}

func (t *Test) listen() string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.tb.Errorf("%v", err)
		return ""
	}
	if _, err := t.serve(t.life, ln); err != nil {
		t.tb.Errorf("%v", err)
		return ""
	}
	return ln.Addr().String()
}

// Run runs a command in database 0, like Do. It stops the test if the reply is an error.
func (t *Test) Run(args ...any) Reply {
	t.tb.Helper()
	r := t.Do(context.Background(), args...)
	if err := r.Err(); err != nil {
		t.tb.Fatalf("%v: %v", args, err)
	}
	return r
}

// Check runs a command in database 0 and fails the test if the reply differs from want. It compares Reply.Any with
// want: nil for a missing key, numbers of any type, []string or []any, map[string]string or map[string]any, and an
// error with the text of an error reply. Members of a set have no order; use SORT with ALPHA to compare them.
func (t *Test) Check(want any, args ...any) {
	t.tb.Helper()
	r := t.Do(context.Background(), args...)
	if got := r.Any(); !reflect.DeepEqual(plain(got), plain(want)) {
		t.tb.Errorf("%v: got %s, want %v", args, r, want)
	}
}

// plain reduces v to a few types: integers are int64, floats float64, errors Error.
func plain(v any) any {
	switch of := reflect.ValueOf(v); {
	case !of.IsValid():
		return nil
	case of.CanInt():
		return of.Int()
	case of.CanUint():
		return int64(of.Uint())
	case of.CanFloat():
		return of.Float()
	}
	switch v := v.(type) {
	case []byte:
		return string(v)
	case error:
		return Error(v.Error())
	}
	switch of := reflect.ValueOf(v); of.Kind() {
	case reflect.Slice:
		list := make([]any, of.Len())
		for i := range list {
			list[i] = plain(of.Index(i).Interface())
		}
		return list
	case reflect.Map:
		m := make(map[any]any, of.Len())
		for _, key := range of.MapKeys() {
			m[plain(key.Interface())] = plain(of.MapIndex(key).Interface())
		}
		return m
	}
	return v
}

// Dump returns all keys as the commands that create them, one per line, sorted by database and name; "" for none.
// Expiry times are absolute (PXAT), so a comparison with a fixed text needs SetTime.
func (t *Test) Dump() string {
	t.tb.Helper()
	text, err := t.dump(context.Background())
	if err != nil {
		t.tb.Fatalf("dumping the database: %v", err)
	}
	return text
}

func (db *DB) dump(ctx context.Context) (string, error) {
	var out bytes.Buffer
	var failed error
	notify := func(k *transfer.Key, err error) { failed = fmt.Errorf("%s: %w", k.Name, err) }
	err := transfer.Run(ctx, db.sorted(ctx), transfer.NewScriptWriter(&out, notify), notify, func(transfer.Part) {})
	return out.String(), errors.Join(err, failed)
}

// sorted yields all keys in the order of their names.
func (db *DB) sorted(ctx context.Context) transfer.Source {
	return func(yield func(transfer.Part, error) bool) {
		session := db.server.Session(who)
		dbs, err := transfer.Databases(ctx, session)
		for _, n := range dbs {
			session.Select(n)
			listed, bad := session.Do(ctx, []byte("KEYS"), []byte("*"))
			if err = bad; err != nil {
				break
			}
			names := make([][]byte, len(listed.Elems))
			for i, v := range listed.Elems {
				names[i] = v.Str
			}
			slices.SortFunc(names, bytes.Compare)
			for part, err := range transfer.FromKeys(ctx, session, names...) {
				if !yield(part, err) {
					return
				}
			}
		}
		if err != nil {
			yield(transfer.Part{}, err)
		}
	}
}
