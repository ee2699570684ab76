package local

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/meowdis/meowdis/store"
)

// newCachedRows copies the parts of b and its rows that the cache needs.
func newCachedRows(b *store.Batch, rows [][]store.Row) *cachedRows {
	r := &cachedRows{sql: b.Stmts[0].SQL}
	r.rows = r.compactRows(rows)
	for _, s := range b.Stmts[1:] {
		r.more = append(r.more, s.SQL)
	}
	var buf [256]byte
	text := append(buf[:0], b.Keys[0]...)
	for i := range b.Stmts {
		text = appendArgs(text, b.Stmts[i].Args)
	}
	both := string(text) // one block of memory, since a lookup reads both
	r.key, r.args = both[:len(b.Keys[0])], both[len(b.Keys[0]):]
	r.size = int64(unsafe.Sizeof(*r)) + entryBytes + int64(len(both)+len(r.more)*stringBytes)
	for i, list := range rows {
		r.size += sliceBytes + int64(len(list))*sliceBytes
		weight := int64(0)
		for _, row := range list {
			weight += row.Weight()
		}
		if size := b.Stmts[i].SizeColumn; size > 0 && len(list) > 0 {
			weight = max(weight, list[0][size-1].Int()) // a string with missing parts is longer than its rows
		}
		r.weight += weight
	}
	r.size += r.weight
	return r
}

// Go's overhead of an entry in a map and a ring, of a slice and of a string, in bytes.
const (
	entryBytes  = 56
	sliceBytes  = 24
	stringBytes = 16
)

// compactRows copies rows into the least memory they need.
func (r *cachedRows) compactRows(lists [][]store.Row) [][]store.Row {
	rows, cells, size := 0, 0, 0
	for _, list := range lists {
		rows += len(list)
		for _, row := range list {
			cells += len(row)
			for i := range row {
				size += len(row[i].Bytes())
			}
		}
	}
	values, data := make([]store.Value, 0, cells), make([]byte, 0, size)
	all, copies := r.row[:0], r.list[:]
	if rows > 1 {
		all = make([]store.Row, 0, rows)
	}
	if len(lists) != 1 {
		copies = make([][]store.Row, len(lists))
	}
	for i, list := range lists {
		if list == nil {
			continue
		}
		first := len(all)
		for _, row := range list {
			start := len(values)
			for _, v := range row {
				from := len(data)
				data = append(data, v.Bytes()...)
				values = append(values, v.On(data[from:len(data):len(data)]))
			}
			all = append(all, values[start:len(values):len(values)])
		}
		copies[i] = all[first:len(all):len(all)]
	}
	return copies
}

// cloneLists copies lists of rows, so that the caller may reorder them. A list of one row is not copied.
func cloneLists(rows [][]store.Row) [][]store.Row {
	if !slices.ContainsFunc(rows, func(list []store.Row) bool { return len(list) > 1 }) {
		return rows
	}
	lists := make([][]store.Row, len(rows))
	for i, list := range rows {
		lists[i] = slices.Clone(list)
	}
	return lists
}

// is reports whether r holds the rows of b. The clock does not matter.
func (r *cachedRows) is(b *store.Batch) bool {
	if len(b.Stmts) != 1+len(r.more) || b.Stmts[0].SQL != r.sql {
		return false
	}
	for i := range r.more {
		if b.Stmts[1+i].SQL != r.more[i] {
			return false
		}
	}
	var buf [256]byte
	args := buf[:0]
	for i := range b.Stmts {
		args = appendArgs(args, b.Stmts[i].Args)
	}
	return string(args) == r.args
}

// appendArgs encodes arguments, except the clock, so that different arguments have different encodings.
func appendArgs(to []byte, args []store.Value) []byte {
	for i := range args {
		if i == clockArg {
			continue
		}
		to = append(to, byte(args[i].Kind()))
		switch args[i].Kind() {
		case store.Integer:
			to = binary.LittleEndian.AppendUint64(to, uint64(args[i].Int()))
		case store.Real:
			to = binary.LittleEndian.AppendUint64(to, math.Float64bits(args[i].Float()))
		case store.Text, store.Blob:
			to = append(binary.AppendUvarint(to, uint64(len(args[i].Bytes()))), args[i].Bytes()...)
		}
	}
	return to
}
