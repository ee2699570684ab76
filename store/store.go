package store

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// ErrDisorder ends what would never end: a damaged table may have its keys in any order.
var ErrDisorder = errors.New("the file is damaged: its keys are out of order; meowdis doctor says more")

// Kind is the storage class of a Value, one of SQLite's five.
type Kind byte

const (
	Null Kind = iota
	Integer
	Real
	Text
	Blob
)

// Value is an argument bound to a statement or a cell of a row. The zero Value
// is NULL.
type Value struct {
	kind Kind
	bits uint64
	data []byte
}

// Int is the INTEGER n. An engine whose numbers are doubles loses integers
// beyond 2^53: such a value travels as Digits.
func Int(n int64) Value { return Value{kind: Integer, bits: uint64(n)} }

// Float is the REAL f. NaN becomes NULL, as in SQLite.
func Float(f float64) Value { return Value{kind: Real, bits: math.Float64bits(f)} }

// String is the TEXT s.
func String(s string) Value { return Value{kind: Text, data: []byte(s)} }

// TextBytes is the TEXT held in b, which must not change afterwards.
func TextBytes(b []byte) Value { return Value{kind: Text, data: b} }

// Bytes is the BLOB b, which must not change afterwards. A nil b is the empty
// blob, never NULL.
func Bytes(b []byte) Value { return Value{kind: Blob, data: b} }

// Digits is n as decimal TEXT, exact on every engine. The statement compares it
// with an INTEGER column, stores it in one, or says CAST(? AS INTEGER).
func Digits(n int64) Value { return Value{kind: Text, data: strconv.AppendInt(nil, n, 10)} }

// Kind returns the storage class.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is NULL.
func (v Value) IsNull() bool { return v.kind == Null }

// Int returns an INTEGER, a REAL that an engine made of an integer, or decimal
// TEXT. Anything else, NULL included, is 0.
func (v Value) Int() int64 {
	switch v.kind {
	case Integer:
		return int64(v.bits)
	case Real:
		return int64(math.Float64frombits(v.bits))
	case Text, Blob:
		n, _ := strconv.ParseInt(string(v.data), 10, 64)
		return n
	}
	return 0
}

// Float returns a REAL or an INTEGER as a double. Anything else is 0.
func (v Value) Float() float64 {
	switch v.kind {
	case Real:
		return math.Float64frombits(v.bits)
	case Integer:
		return float64(int64(v.bits))
	}
	return 0
}

// Bytes returns the content of a BLOB or TEXT, and nil for anything else.
func (v Value) Bytes() []byte { return v.data }

// On returns v with its bytes at b, which must be a copy of them.
func (v Value) On(b []byte) Value {
	if v.kind == Text || v.kind == Blob {
		v.data = b
	}
	return v
}

// String formats v as an SQL literal, for people.
func (v Value) String() string {
	switch v.kind {
	case Integer:
		return strconv.FormatInt(int64(v.bits), 10)
	case Real:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 64)
	case Text:
		return quote(v.data)
	case Blob:
		return fmt.Sprintf("x'%x'", v.data)
	}
	return "NULL"
}

func quote(b []byte) string {
	out := make([]byte, 0, len(b)+2)
	out = append(out, '\'')
	for _, c := range b {
		if c == '\'' {
			out = append(out, '\'')
		}
		out = append(out, c)
	}
	return string(append(out, '\''))
}

// Stmt is one SQL statement. SQL is constant text, so that a store can keep it
// prepared; Args bind ?1, ?2, … and their number is the highest ?N in SQL.
type Stmt struct {
	SQL  string
	Args []Value

	// Refused is the reply of the command when a constraint stops this
	// statement. Nil means that no constraint may stop it: if one does, the
	// file is damaged or the translation wrong. Stores do not use it.
	Refused *resp.Value

	// Size, unless it is 0, is the column, from 1, that says how many bytes the value
	// is long that a row is a part of, 0 for one that is whole in its row. A value's
	// rows have the same integer in column Of; with 0 all rows are one value's. It is
	// for budgets: few rows can be many bytes.
	Size, Of int

	// Fold, unless it is nil, returns a function that takes each row in place of the result, which
	// has none then. The bytes of a row are there during the call only, which must not panic. Fold is
	// called anew each time that the statement runs. A store may pass over it and return the rows.
	Fold func() func(Row)

	// Moot, unless it is nil, reports that the statement has nothing left to do, by the rows and the
	// changes of those before it in its batch, which are all that it is given. A store may then pass
	// over the statement, whose rows and changes are none; one that runs it all the same finds nothing
	// to do.
	SkipIf func(before Result) bool

	// Alone, unless it is "", is SQL for the same arguments that does by itself what this statement and
	// the next one do, and does it sooner where this one finds nothing to change. A store that
	// expects that may run it in place of both.
	Supersedes string
}

// Batch is a list of statements that take effect together or not at all.
type Batch struct {
	Stmts    []Stmt
	ReadOnly bool // no statement writes

	// Keys are the names of keys, in whichever database; nil stands for any. A batch that writes
	// changes no others. One that only reads promises that its rows depend on no others, and on the
	// clock, which is ?3 of each of its statements, only by whether these or a field of theirs have
	// expired: a store may return the rows that the same batch had before, as long as they would
	// be the same.
	Keys [][]byte

	// Of is whose batch it is, for a Follower. A store makes nothing of it.
	Of any

	// Guest says that the SQL is not this program's own, but that of one who was let in: a store that
	// has more than its tables refuses what leaves them, and a write in a batch that only reads. A
	// statement that cannot run is then a Refusal that is Bad, and the fault of its batch alone.
	Guest bool

	// Budget bounds the rows that are returned: a batch with more is refused, as by a
	// constraint. A store that holds less than it can be asked for needs none.
	Budget *Budget
}

// Row is one row of a result, by position.
type Row []Value

// Weight returns about how many bytes of memory the row takes.
func (r Row) Weight() int64 {
	n := int64(RowBytes + len(r)*CellBytes)
	for i := range r {
		n += int64(len(r[i].data))
	}
	return n
}

// Result is what became of a batch.
type Result struct {
	// Rows holds the rows of each statement, nil for one that returned none.
	// A refused batch keeps the rows of the statements before the refusal.
	Rows [][]Row
	// Changes holds how many rows each statement of a batch that writes inserted, updated or
	// deleted, without what triggers did. For one that only reads it means nothing.
	Changes []int64
	// Refused is set when a constraint stopped the batch, which then left no
	// trace.
	Refused *Refusal
	// Took is how long the batch worked, without waiting for others or for the commit; 0 when the
	// store does not say.
	Took time.Duration
	// Work bounds the code that reads the rows. The engine sets it; nil has no limits.
	Work *Work
}

// Refusal says which statement of a batch a constraint stopped.
type Refusal struct {
	At int // index of the statement
	// Reply is that of a budget which was too small, nil for a constraint's: that is
	// the statement's.
	Reply  *resp.Value
	Reason string // the engine's words, such as "NOT NULL constraint failed: keys.type"

	// TooLong is set when it was no constraint, but the time that the batch took.
	TooLong *TooLong

	// Bad is set when it was no constraint, but a statement of a guest that cannot run here.
	Bad bool
}

// TooLong is the error of a transaction that took longer than the store lets it, which
// left no trace.
type TooLong struct{ Limit time.Duration }

func (e *TooLong) Error() string {
	return fmt.Sprintf("it took longer than %v, the most that one command may take, and left no trace", e.Limit)
}

// Result is that of a batch which took too long.
func (e *TooLong) Result() Result { return Result{Refused: &Refusal{Reason: e.Error(), TooLong: e}} }

// Part is what one client asks of a visit to a store that several share. All batches of
// a part only read, or it is a write.
type Part struct {
	Batches []Batch
	// Brief says of a write that it is to be given up, without a trace, rather than to go on for long.
	Brief bool
	// Turn may end the wait of a write that has not begun.
	Turn *Turn
	// Results and Err are what Apply would have returned, or Err is ErrLong.
	Results []Result
	Err     error
}

// ErrLong is the error of a part that reads or is brief, and takes longer than the others of its visit
// should wait: it is to be applied alone.
var ErrLong = errors.New("it takes longer than others should wait")
