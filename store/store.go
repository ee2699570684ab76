package store

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// ErrOutOfOrder ends a loop that would never finish: a damaged table may return its keys in any order.
var ErrOutOfOrder = errors.New("the file is damaged: its keys are out of order; run meowdis doctor")

// Kind is one of SQLite's five storage classes.
type Kind byte

const (
	Null Kind = iota
	Integer
	Real
	Text
	Blob
)

// Value is a bound argument of a statement, or a cell of a row. The zero Value is NULL.
type Value struct {
	kind Kind
	bits uint64
	data []byte
}

// Int returns the INTEGER n. An engine with only doubles for numbers loses integers beyond 2^53: send such a
// value as Digits.
func Int(n int64) Value { return Value{kind: Integer, bits: uint64(n)} }

// Float returns the REAL f. NaN becomes NULL, as in SQLite.
func Float(f float64) Value { return Value{kind: Real, bits: math.Float64bits(f)} }

// String returns the TEXT s.
func String(s string) Value { return Value{kind: Text, data: []byte(s)} }

// TextBytes returns the TEXT in b, which must not change afterwards.
func TextBytes(b []byte) Value { return Value{kind: Text, data: b} }

// Bytes returns the BLOB b, which must not change afterwards. A nil b is the empty blob, never NULL.
func Bytes(b []byte) Value { return Value{kind: Blob, data: b} }

// Digits returns n as decimal TEXT, which is exact on every engine. The statement compares it with an INTEGER
// column, stores it in one, or says CAST(? AS INTEGER).
func Digits(n int64) Value { return Value{kind: Text, data: strconv.AppendInt(nil, n, 10)} }

// Kind returns the storage class.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is NULL.
func (v Value) IsNull() bool { return v.kind == Null }

// Int returns the value of an INTEGER, of a REAL that an engine made of an integer, or of decimal TEXT.
// Anything else, NULL included, is 0.
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

// Float returns the value of a REAL or an INTEGER as a double. Anything else is 0.
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

// On returns v backed by b, which must be a copy of its bytes.
func (v Value) On(b []byte) Value {
	if v.kind == Text || v.kind == Blob {
		v.data = b
	}
	return v
}

// String formats v as an SQL literal for display.
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

// Stmt is one SQL statement. SQL is constant text, so that a store can keep it prepared. Args bind ?1, ?2, …;
// there are as many as the highest ?N in SQL.
type Stmt struct {
	SQL  string
	Args []Value

	// Refused is the command's reply if a constraint stops this statement. Nil means that no constraint may stop
	// it: if one does, the file is damaged or the translation is wrong. Stores do not use it.
	Refused *resp.Value

	// SizeColumn is the column, from 1, with the total bytes of a value that is split over several rows; 0 if every
	// value is whole in its row. All rows of one value have the same integer in column SizeGroup; if SizeGroup is 0, all rows
	// belong to one value. Budgets need it, because a few rows can stand for many bytes.
	SizeColumn, SizeGroup int

	// Fold, if set, returns a function that receives each row instead of the result, which then has none. The
	// bytes of a row are valid during the call only, and the call must not panic. The store calls Fold each time
	// that the statement runs. A store may ignore Fold and return the rows.
	Fold func() func(Row)
	// Scattered says that the rows of Fold are far apart in the file.
	Scattered bool

	// Pack, if set, returns a function that packs a row and returns the bytes of memory that this took. A store
	// passes it all rows of the statement, also the first ones, once they exceed PackFrom bytes; the result then
	// has only the first rows. As for Fold, the bytes of a row are valid during the call only, a second run calls
	// Pack again, and a store may ignore it and return the rows.
	Pack func() func(Row) int64

	// SkipIf, if set, reports whether the statement has nothing to do, given the rows and changes of the earlier
	// statements of the batch. A store may then skip the statement, whose rows and changes are empty. A store
	// that runs it anyway changes and returns nothing.
	SkipIf func(before Result) bool

	// Supersedes, unless it is "", is SQL for the same arguments that does the work of this statement and the
	// next one together. It is faster if this statement would find nothing to change: a store that expects that
	// may run it instead of both.
	Supersedes string
}

// PackFrom is the number of bytes of rows from which a store packs them. It is more than a cache of rows holds.
const PackFrom = 256 << 10

// Batch is a list of statements that take effect together or not at all.
type Batch struct {
	Stmts    []Stmt
	ReadOnly bool // only reads

	// Keys are names of keys, in any database; nil means any key. A batch that writes changes no other key. A
	// batch that reads promises that its rows depend on these keys only, and on the clock (?3 of each statement)
	// only by whether the keys or their fields have expired. So a store may return the rows of an earlier run of
	// the same batch if they would be the same.
	Keys [][]byte

	// Origin identifies the origin of the batch for a Follower. Stores ignore it.
	Origin any

	// Guest means that the SQL comes from a user, not from this program. A store with more than its own tables
	// then refuses SQL that leaves those tables, and writes in a read-only batch. A statement that cannot run is
	// a Refusal with BadStatement, which affects this batch alone.
	Guest bool

	// Budget limits the returned rows: a batch with more is refused, as by a constraint. A store with bounded
	// results may ignore it.
	Budget *Budget

	// Coalescer, unless nil, can merge this batch with the batches before and after it. A store may ignore it.
	Coalescer Coalescer
}

// Coalescer makes one batch of consecutive batches that do the same to one key.
type Coalescer interface {
	// Fits reports whether b, which has this Coalescer, changes the key of first.
	Fits(first, b *Batch) bool
	// Coalesce returns a batch that has the effect of the batches in their order, or none.
	Coalesce(batches []*Batch) Batch
	// Split sets the results of the batches from the result of the coalesced one. It reports false if that has
	// changed nothing, and they must run one by one.
	Split(r *Result, batches []*Batch, results []*Result) bool
}

// Row is one row of a result. Cells are found by position.
type Row []Value

// Weight returns the approximate bytes of memory of the row.
func (r Row) Weight() int64 {
	n := int64(RowBytes + len(r)*CellBytes)
	for i := range r {
		n += int64(len(r[i].data))
	}
	return n
}

// Result holds the outcome of a batch.
type Result struct {
	// Rows holds the rows of each statement, nil for none. A refused batch keeps the rows of the statements
	// before the refusal.
	Rows [][]Row
	// Changes holds the number of rows that each statement of a batch that writes inserted, updated or deleted,
	// without the changes of triggers. It has no meaning for a batch that only reads.
	Changes []int64
	// Refused is set if a constraint stopped the batch, which then left no trace.
	Refused *Refusal
	// Took is the working time of the batch, without waiting for other clients or the commit; 0 if the store
	// does not measure it.
	Took time.Duration
	// Work limits the code that reads the rows. The engine sets it; nil means no limits.
	Work *Work
}

// Refusal describes why a batch was stopped, and at which statement.
type Refusal struct {
	At int // index of the statement
	// Reply is the reply of an exceeded budget. It is nil for a constraint, whose reply is in the statement.
	Reply  *resp.Value
	Reason string // the SQL engine's message

	// TooLong is set if the batch exceeded its time limit.
	TooLong *TooLong

	// BadStatement is set if a guest's statement cannot run here.
	BadStatement bool
}

// TooLong reports a transaction that exceeded the store's time limit. It left no trace.
type TooLong struct{ Limit time.Duration }

func (e *TooLong) Error() string {
	return fmt.Sprintf("time limit of %v exceeded; nothing was changed", e.Limit)
}

// Result returns the result of a batch that took too long.
func (e *TooLong) Result() Result { return Result{Refused: &Refusal{Reason: e.Error(), TooLong: e}} }

// Part is one client's share of a group that a store applies together. Either all batches of a part only read,
// or the part writes.
type Part struct {
	Batches []Batch
	// FailIfSlow makes a write that takes long stop early, without a trace.
	FailIfSlow bool
	// Wait can end the wait of a write that has not begun.
	Wait *WriteWait
	// Ran, if set, is called inside the transaction after each batch of a write, possibly once for each attempt.
	Ran func(*Result)
	// Results and Err are the results of Apply, or Err is ErrLong.
	Results []Result
	Err     error
}

// ErrLong reports a part that reads or has FailIfSlow, and takes longer than the other clients of its group
// should wait: the caller applies it alone.
var ErrLong = errors.New("it takes longer than other clients should wait")
