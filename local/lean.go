package local

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite parses the whole schema of a file before its first statement. Half of ours are triggers and
// views, which take it longer than a GET, and no statement that reads has any use for. So the file
// system leaves them out for who only glances at a file: of each page of the table sqlite_schema that
// SQLite reads, it takes away the pointers to their rows.
//
// A page that is not understood is handed on as it is: then it takes longer.

// leanParameter in the URI of a file that is only read has it opened without triggers and views.
const leanParameter = "lean"

// Pages of a B-tree of rows begin with their kind; the first page of the file does so after its header.
const (
	pageInner = 5
	pageLeaf  = 13

	pageSmallest = 512

	// Where from its beginning it has the number of its cells, its last child, and the pointers to its cells.
	pageCells     = 3
	innerLast     = 8
	leafPointers  = 8
	innerPointers = 12
)

// headerSize is how long the header of a file is.
const headerSize = 100

// schemaPages are the numbers of the pages of sqlite_schema that are known, but for the first; 0 is none.
type schemaPages [32]uint32

// add remembers a page, if there is room.
func (s *schemaPages) add(page uint32) {
	if free := slices.Index(s[:], 0); free >= 0 && !slices.Contains(s[:], page) {
		s[free] = page
	}
}

func leanRead(tls *libc.TLS, file, p uintptr, n int32, offset int64) int32 {
	f := framedAt(file)
	rc := function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.methods().FxRead)(tls, file, p, n, offset)
	if rc == sqlite3.SQLITE_OK && n >= pageSmallest {
		f.schema.read(unsafe.Slice(at[byte](p), n), offset)
	}
	return rc
}

// read leaves out triggers and views of the page at offset, if it is one of sqlite_schema.
func (s *schemaPages) read(page []byte, offset int64) {
	start := 0
	switch number := offset/int64(len(page)) + 1; {
	case number == 1:
		start = headerSize
	case !slices.Contains(s[:], uint32(number)):
		return
	}
	head := page[start:]
	cells := int(binary.BigEndian.Uint16(head[pageCells:]))
	switch kind := head[0]; {
	case kind == pageInner && innerPointers+2*cells <= len(head):
		s.add(binary.BigEndian.Uint32(head[innerLast:]))
		for i := range cells {
			if cell := cellAt(page, head[innerPointers+2*i:]); len(cell) >= 4 {
				s.add(binary.BigEndian.Uint32(cell))
			}
		}
	case kind == pageLeaf && leafPointers+2*cells <= len(head):
		pointers, kept := head[leafPointers:], 0
		for i := range cells {
			last := i == cells-1 && kept == 0 // to SQLite a leaf without rows is damaged
			if last || !isTriggerOrView(cellAt(page, pointers[2*i:])) {
				copy(pointers[2*kept:], pointers[2*i:][:2])
				kept++
			}
		}
		binary.BigEndian.PutUint16(head[pageCells:], uint16(kept))
	}
}

// cellAt is the page from where a pointer points; empty when that is beyond it.
func cellAt(page, pointer []byte) []byte {
	return page[min(int(binary.BigEndian.Uint16(pointer)), len(page)):]
}

// isTriggerOrView reports whether a row of sqlite_schema, whose first column says so, is one.
func isTriggerOrView(cell []byte) bool {
	record := afterVarint(afterVarint(cell)) // its length, and the number of the row
	if len(record) < 2 || int(record[0]) > len(record) {
		return false
	}
	kind, values := record[1], record[record[0]:]
	return kind == textOf("trigger") && bytes.HasPrefix(values, []byte("trigger")) ||
		kind == textOf("view") && bytes.HasPrefix(values, []byte("view"))
}

// textOf is how a record says that a column is text as long as this.
func textOf(s string) byte { return byte(13 + 2*len(s)) }

// afterVarint is what follows a number of SQLite's, which has up to nine bytes.
func afterVarint(b []byte) []byte {
	for i := range min(len(b), 9) {
		if b[i] < 0x80 || i == 8 {
			return b[i+1:]
		}
	}
	return nil
}
