package transfer

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// call returns a command of a name and arguments.
func call(name string, args ...[]byte) [][]byte {
	return append([][]byte{[]byte(name)}, args...)
}

// words returns a command of words.
func words(text ...string) [][]byte {
	out := make([][]byte, len(text))
	for i, w := range text {
		out[i] = []byte(w)
	}
	return out
}

func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// size returns the size of a command's arguments in bytes.
func size(args [][]byte) int {
	n := 0
	for _, a := range args {
		n += len(a) + perElement
	}
	return n
}

// perElement estimates the overhead of an element in bytes.
const perElement = 64

// Refusal is an error reply as a Go error.
type Refusal = keyspace.Refusal

// refused returns an error reply as an error, or nil for any other reply.
func refused(v resp.Value) error {
	if v.IsError() {
		return Refusal(v.Str)
	}
	return nil
}

func unknown(v resp.Value) bool          { return keyspace.Unknown(v) }
func text(v resp.Value) []byte           { return keyspace.Text(v) }
func integer(v resp.Value) (int64, bool) { return keyspace.Integer(v) }
func texts(elems []resp.Value) [][]byte  { return keyspace.Texts(elems) }

// fieldOf returns the value at name in a flat map, the form of XINFO replies.
func fieldOf(v resp.Value, name string) (resp.Value, bool) {
	i := slices.IndexFunc(v.Elems, func(e resp.Value) bool { return bytes.Equal(e.Str, []byte(name)) })
	if i < 0 || i+1 >= len(v.Elems) {
		return resp.Value{}, false
	}
	return v.Elems[i+1], true
}

// numberAt returns the integer at name in a flat map, or otherwise.
func numberAt(v resp.Value, name string, otherwise int64) int64 {
	e, ok := fieldOf(v, name)
	if n, isNumber := integer(e); ok && isNumber {
		return n
	}
	return otherwise
}

// selectDB changes the database of a session.
func selectDB(ctx context.Context, s keyspace.Session, db int) error {
	if s.DB() == db {
		return nil
	}
	v, err := s.Do(ctx, call("SELECT", decimal(int64(db)))...)
	if err == nil && v.IsError() {
		err = fmt.Errorf("database %d: %s", db, v.Str)
		if beyondDatabases(v) {
			err = fmt.Errorf("the target has no database %d; --from-database %d --to-database NUMBER puts its keys into another", db, db)
		}
	}
	return err
}

// serverNow reads the reply to TIME, in Unix ms. It returns the local time for an invalid
// reply.
func serverNow(v resp.Value) int64 {
	if len(v.Elems) == 2 {
		s, ok1 := integer(v.Elems[0])
		us, ok2 := integer(v.Elems[1])
		if ok1 && ok2 {
			return s*1000 + us/1000
		}
	}
	return time.Now().UnixMilli()
}

// Select changes the database of a session, unless it is selected already.
func Select(ctx context.Context, s keyspace.Session, db int) error { return selectDB(ctx, s, db) }
