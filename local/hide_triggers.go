package local

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite parses the whole schema of a file before its first statement. Half of ours is triggers and views. They
// take longer to parse than a GET takes to run, and no reading statement needs them. So an ImmutableReader
// hides them: when SQLite reads a page of the table sqlite_schema, our VFS removes the pointers to their rows.
//
// A page with an unexpected layout is passed on unchanged, which is only slower.

// hideTriggersParam, in the URI of a file opened for reading, hides its triggers and views.
const hideTriggersParam = "lean"

// A page of a table's B-tree begins with its kind; on the first page, the file header comes first.
const (
	pageInner = 5
	pageLeaf  = 13

	pageSmallest = 512

	// Offsets of the number of cells, of the last child, and of the cell pointers.
	pageCells     = 3
	innerLast     = 8
	leafPointers  = 8
	innerPointers = 12
)

// headerSize counts the bytes of a file's header.
const headerSize = 100

// schemaPages holds the numbers of the known pages of sqlite_schema, except the first; 0 is a free slot.
type schemaPages [32]uint32

// add records a page, if a slot is free.
func (s *schemaPages) add(page uint32) {
	if free := slices.Index(s[:], 0); free >= 0 && !slices.Contains(s[:], page) {
		s[free] = page
	}
}

func readHidingTriggers(tls *libc.TLS, file, p uintptr, n int32, offset int64) int32 {
	f := vfsFileAt(file)
	rc := function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](f.methods().FxRead)(tls, file, p, n, offset)
	if rc == sqlite3.SQLITE_OK && n >= pageSmallest {
		f.schema.read(unsafe.Slice(at[byte](p), n), offset)
	}
	return rc
}

// read hides the triggers and views on the page at offset, if the page belongs to sqlite_schema.
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
			last := i == cells-1 && kept == 0 // SQLite takes a leaf without rows for damaged
			if last || !isTriggerOrView(cellAt(page, pointers[2*i:])) {
				copy(pointers[2*kept:], pointers[2*i:][:2])
				kept++
			}
		}
		binary.BigEndian.PutUint16(head[pageCells:], uint16(kept))
	}
}

// cellAt returns the page from the offset that pointer holds; empty if that is beyond the page's end.
func cellAt(page, pointer []byte) []byte {
	return page[min(int(binary.BigEndian.Uint16(pointer)), len(page)):]
}

// isTriggerOrView reports whether a row of sqlite_schema describes a trigger or a view, by its first column.
func isTriggerOrView(cell []byte) bool {
	record := afterVarint(afterVarint(cell)) // after its length and the row number
	if len(record) < 2 || int(record[0]) > len(record) {
		return false
	}
	kind, values := record[1], record[record[0]:]
	return kind == textOf("trigger") && bytes.HasPrefix(values, []byte("trigger")) ||
		kind == textOf("view") && bytes.HasPrefix(values, []byte("view"))
}

// textOf returns the type code that a record has for a text of this length.
func textOf(s string) byte { return byte(13 + 2*len(s)) }

// afterVarint returns the bytes after a SQLite varint, which has up to nine bytes.
func afterVarint(b []byte) []byte {
	for i := range min(len(b), 9) {
		if b[i] < 0x80 || i == 8 {
			return b[i+1:]
		}
	}
	return nil
}
