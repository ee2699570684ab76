package doctor

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"math/bits"

	"github.com/meowdis/meowdis/store"
)

// pages reads the pages of a SQLite file that may be damaged, without SQLite
// (https://sqlite.org/fileformat2.html).
type pages struct {
	file, log io.ReaderAt // log is nil if the file has none
	size      int         // of a page, in bytes
	usable    int
	count     uint32           // pages that the file should have
	inLog     map[uint32]int64 // offset of a page's last version in the WAL
}

// The kinds of b-tree pages.
const (
	innerIndex = 2
	innerTable = 5
	leafIndex  = 10
	leafTable  = 13
)

const (
	fileMagic      = "SQLite format 3\x00"
	fileHeader     = 100 // bytes, on the first page
	logHeaderSize  = 32
	logFrameHeader = 24
	usualPage      = 4096 // if the header is damaged
	leastPage      = 512
	mostPage       = 65536
)

// openPages opens the pages of a file and of its WAL, which may be nil.
func openPages(file io.ReaderAt, fileSize int64, log io.ReaderAt) *pages {
	p := &pages{file: file, log: log, inLog: map[uint32]int64{}}
	var header [fileHeader]byte
	reserved := 0
	if n, _ := file.ReadAt(header[:], 0); n == len(header) && string(header[:len(fileMagic)]) == fileMagic {
		p.size, reserved = int(binary.BigEndian.Uint16(header[16:])), int(header[20])
		if p.size == 1 {
			p.size = mostPage
		}
		p.count = binary.BigEndian.Uint32(header[28:])
	}
	var logged uint32
	if log != nil {
		logged = p.readLog()
	}
	if !isPageSize(p.size) || reserved > p.size-480 {
		p.size, reserved = usualPage, 0
	}
	p.usable = p.size - reserved
	has := uint32(min((fileSize+int64(p.size)-1)/int64(p.size), math.MaxUint32-1))
	// A damaged header may contain any count.
	if p.count = max(p.count, logged); p.count < has || p.count > 16*max(has, logged) {
		p.count = max(has, logged)
	}
	return p
}

func isPageSize(n int) bool { return n >= leastPage && n <= mostPage && bits.OnesCount(uint(n)) == 1 }

// readLog indexes the pages of all complete commits in the WAL, and returns the number of pages in the file
// after them.
func (p *pages) readLog() (count uint32) {
	var header [logHeaderSize]byte
	if n, _ := p.log.ReadAt(header[:], 0); n < len(header) {
		return 0
	}
	magic, size := binary.BigEndian.Uint32(header[:]), int(binary.BigEndian.Uint32(header[8:]))
	if magic&^1 != 0x377f0682 || !isPageSize(size) || p.size != 0 && isPageSize(p.size) && p.size != size {
		return 0
	}
	p.size = size
	order := binary.ByteOrder(binary.LittleEndian)
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	var s0, s1 uint32
	sum := func(b []byte) {
		for i := 0; i < len(b); i += 8 {
			s0 += order.Uint32(b[i:]) + s1
			s1 += order.Uint32(b[i+4:]) + s0
		}
	}
	sum(header[:24])
	if s0 != binary.BigEndian.Uint32(header[24:]) || s1 != binary.BigEndian.Uint32(header[28:]) {
		return 0
	}
	frame := make([]byte, logFrameHeader+size)
	pending := map[uint32]int64{}
	for at := int64(logHeaderSize); ; at += int64(len(frame)) {
		if n, _ := p.log.ReadAt(frame, at); n < len(frame) || !bytes.Equal(frame[8:16], header[16:24]) {
			return count
		}
		sum(frame[:8])
		sum(frame[logFrameHeader:])
		if s0 != binary.BigEndian.Uint32(frame[16:]) || s1 != binary.BigEndian.Uint32(frame[20:]) {
			return count
		}
		pending[binary.BigEndian.Uint32(frame)] = at + logFrameHeader
		if size := binary.BigEndian.Uint32(frame[4:]); size > 0 {
			count = size
			for page, at := range pending {
				p.inLog[page] = at
			}
			clear(pending)
		}
	}
}

// page returns the page with the given number; the first page is 1. It returns nil if the page cannot be read
// completely.
func (p *pages) page(number uint32) []byte {
	from, at := p.file, int64(number-1)*int64(p.size)
	if logged, ok := p.inLog[number]; ok {
		from, at = p.log, logged
	}
	b := make([]byte, p.size)
	if n, _ := from.ReadAt(b, at); n < len(b) {
		return nil
	}
	return b
}

// cell holds a row of a page, or a child of an inner page.
type cell struct {
	child  uint32 // of an inner page
	row    int64  // the row ID, in a table
	values []store.Value
}

// node reads a b-tree page. It skips and counts cells whose record cannot be read completely. kind is 0 if the
// page is not part of a b-tree.
func (p *pages) node(number uint32) (kind byte, cells []cell, last uint32, broken int) {
	b := p.page(number)
	if b == nil {
		return 0, nil, 0, 0
	}
	at := 0
	if number == 1 {
		at = fileHeader
	}
	kind = b[at]
	head := 8
	switch kind {
	case innerIndex, innerTable:
		head = 12
		last = binary.BigEndian.Uint32(b[at+8:])
	case leafIndex, leafTable:
	default:
		return 0, nil, 0, 0
	}
	n := int(binary.BigEndian.Uint16(b[at+3:]))
	first := at + head
	if first+2*n > p.usable || b[at+7] > 60 {
		return 0, nil, 0, 0
	}
	for i := range n {
		from := int(binary.BigEndian.Uint16(b[first+2*i:]))
		if from < first+2*n || from >= p.usable {
			broken++
			continue
		}
		if c, ok := p.cell(kind, b[from:p.usable]); ok {
			cells = append(cells, c)
		} else {
			broken++
		}
	}
	if len(cells) == 0 && broken > 0 {
		return 0, nil, 0, 0
	}
	return kind, cells, last, broken
}

func (p *pages) cell(kind byte, b []byte) (c cell, ok bool) {
	if kind == innerIndex || kind == innerTable {
		if len(b) < 4 {
			return c, false
		}
		c.child, b = binary.BigEndian.Uint32(b), b[4:]
	}
	if kind == innerTable {
		_, n := varint(b)
		return c, n > 0
	}
	length, n := varint(b)
	if n == 0 || length == 0 || length > uint64(p.count)*uint64(p.size) {
		return c, false
	}
	b = b[n:]
	if kind == leafTable {
		row, n := varint(b)
		if n == 0 {
			return c, false
		}
		c.row, b = int64(row), b[n:]
	}
	payload, ok := p.payload(kind, b, int(length))
	if !ok {
		return c, false
	}
	c.values, ok = record(payload)
	return c, ok
}

// payload returns a record of length bytes that begins in b and may continue on other pages.
func (p *pages) payload(kind byte, b []byte, length int) ([]byte, bool) {
	most := p.usable - 35
	if kind != leafTable {
		most = (p.usable-12)*64/255 - 23
	}
	if length <= most {
		if len(b) < length {
			return nil, false
		}
		return b[:length], true
	}
	least := (p.usable-12)*32/255 - 23
	here := least + (length-least)%(p.usable-4)
	if here > most {
		here = least
	}
	if len(b) < here+4 {
		return nil, false
	}
	next := binary.BigEndian.Uint32(b[here:])
	whole := append([]byte(nil), b[:here]...)
	for len(whole) < length {
		if next < 2 || next > p.count {
			return nil, false
		}
		page := p.page(next)
		if page == nil {
			return nil, false
		}
		next = binary.BigEndian.Uint32(page)
		whole = append(whole, page[4:min(p.usable, 4+length-len(whole))]...)
	}
	return whole, next == 0
}

// record decodes the values of a record, which must fill it exactly.
func record(b []byte) (values []store.Value, ok bool) {
	size, n := varint(b)
	if n == 0 || size < uint64(n) || size > uint64(len(b)) {
		return nil, false
	}
	head, body := b[n:size], b[size:]
	for len(head) > 0 {
		kind, n := varint(head)
		if n == 0 {
			return nil, false
		}
		head = head[n:]
		length := 0
		switch {
		case kind <= 4:
			length = int(kind)
		case kind == 5:
			length = 6
		case kind == 6, kind == 7:
			length = 8
		case kind == 8, kind == 9:
		case kind >= 12 && kind < 1<<34:
			length = int(kind-12) / 2
		default:
			return nil, false
		}
		if length > len(body) {
			return nil, false
		}
		cut := body[:length]
		body = body[length:]
		switch {
		case kind == 0:
			values = append(values, store.Value{})
		case kind <= 6:
			var i int64
			if length > 0 && cut[0] >= 0x80 {
				i = -1
			}
			for _, c := range cut {
				i = i<<8 | int64(c)
			}
			values = append(values, store.Int(i))
		case kind == 7:
			values = append(values, store.Float(math.Float64frombits(binary.BigEndian.Uint64(cut))))
		case kind == 8, kind == 9:
			values = append(values, store.Int(int64(kind-8)))
		case kind%2 == 0:
			values = append(values, store.Bytes(bytes.Clone(cut)))
		default:
			values = append(values, store.String(string(cut)))
		}
	}
	return values, len(body) == 0 && len(values) > 0
}

// varint reads a SQLite varint and returns its length in bytes, or 0 if b is too short.
func varint(b []byte) (v uint64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
