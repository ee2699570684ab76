//go:build wasip1

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/store"
)

// objectStore accesses the SQLite database of the current call's object. Calls do not interleave, so no other call
// uses it.
type objectStore struct{}

// Apply implements the engine's contract.
func (objectStore) Apply(_ context.Context, batches []store.Batch) ([]store.Result, error) {
	results := make([]store.Result, len(batches))
	for i := range batches {
		var err error
		if results[i], err = apply(batches[i]); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// Transact runs fn in one transaction.
func (objectStore) Transact(_ context.Context, readOnly bool, fn func(engine.Run) error) error {
	if readOnly {
		return fn(apply)
	}
	var err error
	return errors.Join(transact(func() bool {
		err = fn(apply)
		return err == nil
	}), err)
}

// apply runs a batch. One statement is atomic by itself.
func apply(b store.Batch) (r store.Result, err error) {
	if b.ReadOnly || len(b.Stmts) < 2 {
		return run(b)
	}
	failed := transact(func() bool {
		r, err = run(b)
		return err == nil && r.Refused == nil
	})
	return r, errors.Join(failed, err)
}

// run runs the statements of a batch up to the first refused one.
func run(b store.Batch) (store.Result, error) {
	r := store.Result{Rows: make([][]store.Row, len(b.Stmts)), Changes: make([]int64, len(b.Stmts))}
	used := b.Budget.Used()
	for i, s := range b.Stmts {
		if s.SkipIf != nil && s.SkipIf(store.Result{Rows: r.Rows[:i], Changes: r.Changes[:i]}) {
			continue
		}
		status, result := exec(s, b.Budget.Remaining())
		switch status {
		case statusRefused:
			r.Refused = &store.Refusal{At: i, Reason: string(result)}
			return r, nil
		case statusFailed:
			return r, fmt.Errorf("running %q: %w", s.SQL, failure(result))
		case statusLong:
			says := b.Budget.Refusal()
			b.Budget.Rewind(used)
			r.Refused = &store.Refusal{At: i, Reason: string(says.Str), Reply: &says}
			return r, nil
		}
		r.Changes[i] = int64(binary.LittleEndian.Uint32(result))
		var size int64
		if r.Rows[i], size = rows(result[4:]); !b.Budget.Take(size) {
			says := b.Budget.Refusal()
			b.Budget.Rewind(used)
			r.Refused = &store.Refusal{At: i, Reason: string(says.Str), Reply: &says}
			return r, nil
		}
	}
	return r, nil
}

// failure holds an error message of the database.
type failure string

func (f failure) Error() string {
	if strings.Contains(string(f), "SQLITE_TOOBIG") {
		return "a Durable Object takes values and statements of at most 2 MB: send less at a time"
	}
	return string(f)
}

// numbers maps SQL texts to the numbers that JavaScript knows them by.
var numbers = map[string]int32{}

func number(sql string) int32 {
	n, known := numbers[sql]
	if !known {
		n = int32(len(numbers))
		numbers[sql] = n
		hostText(n, sql)
	}
	return n
}

// Statuses of a result.
const (
	statusDone = iota
	statusRefused
	statusFailed
	statusLong
)

// A result begins with a status byte. After statusDone follow the number of changed rows and the number of columns, 4
// bytes each, and the cells; after another status, a text.
func exec(s store.Stmt, most int64) (status byte, result []byte) {
	args = args[:0]
	for _, v := range s.Args {
		args = appendValue(args, v)
	}
	if most == 0 {
		most = math.MaxInt32
	}
	work.estimated += costStatement
	n := hostExec(number(s.SQL), unsafe.Pointer(unsafe.SliceData(args)), int32(len(args)), float64(most))
	if cap(args) > 1<<20 {
		args = nil
	}
	result = take(n)
	return result[0], result[1:]
}

var args = make([]byte, 0, 1024)

// Tags of a value. A number is a double, as in JavaScript. Bytes follow their length.
const (
	tagNull = iota
	tagNumber
	tagText
	tagBlob
)

func appendValue(out []byte, v store.Value) []byte {
	tag := byte(tagText)
	switch v.Kind() {
	case store.Null:
		return append(out, tagNull)
	case store.Integer, store.Real:
		return binary.LittleEndian.AppendUint64(append(out, tagNumber), math.Float64bits(v.Float()))
	case store.Blob:
		tag = tagBlob
	}
	b := v.Bytes()
	return append(binary.LittleEndian.AppendUint32(append(out, tag), uint32(len(b))), b...)
}

// rows decodes rows without copying b and returns their size in memory.
func rows(b []byte) (all []store.Row, size int64) {
	columns := int(binary.LittleEndian.Uint32(b))
	b = b[4:]
	size = int64(len(b))
	for len(b) > 0 {
		row := make(store.Row, columns)
		for i := range row {
			row[i], b = value(b)
		}
		all = append(all, row)
		size += store.RowBytes + int64(columns)*store.CellBytes
	}
	return all, size
}

func value(b []byte) (store.Value, []byte) {
	tag, b := b[0], b[1:]
	switch tag {
	case tagNull:
		return store.Value{}, b
	case tagNumber:
		return store.Float(math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
	}
	n := binary.LittleEndian.Uint32(b)
	data, rest := b[4:4+n:4+n], b[4+n:]
	if tag == tagText {
		return store.TextBytes(data), rest
	}
	return store.Bytes(data), rest
}
