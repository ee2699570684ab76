package value

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
)

// elementList holds elements in an order. Their cells are packed into long strings, so that a million small elements
// take 45 MB, and the garbage collector has few pointers to follow.
type elementList struct {
	refs   []elementRef
	blocks []string
	block  []byte // the elements for the next block
	bytes  int    // the size of the listed elements
	held   int    // the size of all elements in blocks
}

// elementRef refers to an element. Its key orders the elements of a class; elements with equal keys are compared in
// full.
type elementRef struct {
	key   uint64
	place uint64 // the block and the offset in it, below the class
}

const (
	isText     = 1 << 63 // the class of elements without a number in the sort column
	offsetBits = 32
	blockBytes = 64 << 10
)

// elementOrder orders elements.
type elementOrder struct {
	column  int // the column to sort by, from 1; 0: as stored
	reverse bool
}

// add appends an element, the n-th in the stored order, and copies its cells. body is the full element; "" if that is
// the last cell.
func (l *elementList) add(n int, row record, body string) {
	l.begin(n, len(row), body != "")
	for _, cell := range row {
		l.block = appendCell(l.block, cell)
	}
	if body != "" {
		l.block = appendCell(l.block, body)
	}
	l.end()
}

// addCells is add for bytes.
func (l *elementList) addCells(n int, cells ...[]byte) {
	l.begin(n, len(cells), false)
	for _, cell := range cells {
		l.block = appendCell(l.block, cell)
	}
	l.end()
}

func appendCell[T string | []byte](block []byte, cell T) []byte {
	return append(binary.AppendUvarint(block, uint64(len(cell))), cell...)
}

// begin begins an element: its number, and twice the number of its cells, plus one if a body follows them.
func (l *elementList) begin(n, cells int, hasBody bool) {
	l.refs = append(l.refs, elementRef{place: uint64(len(l.blocks))<<offsetBits | uint64(len(l.block))})
	l.block = binary.AppendUvarint(l.block, uint64(n))
	form := uint64(cells) << 1
	if hasBody {
		form |= 1
	}
	l.block = binary.AppendUvarint(l.block, form)
}

func (l *elementList) end() {
	if len(l.block) >= blockBytes {
		l.flush()
	}
}

// flush makes the elements that were added readable.
func (l *elementList) flush() {
	if len(l.block) > 0 {
		l.blocks, l.held, l.block = append(l.blocks, string(l.block)), l.held+len(l.block), l.block[:0]
	}
}

// packed returns the bytes from an element to the end of its block.
func (l *elementList) packed(r elementRef) string {
	place := r.place &^ isText
	return l.blocks[place>>offsetBits][place&(1<<offsetBits-1):]
}

// number returns the position of an element in the stored order, and the number of its cells and bodies.
func (l *elementList) number(r elementRef) (n, cells int, hasBody bool, rest string) {
	first, rest := uvarint(l.packed(r))
	form, rest := uvarint(rest)
	return int(first), int(form >> 1), form&1 == 1, rest
}

// size returns the bytes of an element.
func (l *elementList) size(r elementRef) int {
	all := len(l.packed(r))
	_, cells, hasBody, rest := l.number(r)
	if hasBody {
		cells++
	}
	for range cells {
		_, rest = nextCell(rest)
	}
	return all - len(rest)
}

// element returns the cells of an element, appended to row, and its body, "" if that is the last cell.
func (l *elementList) element(r elementRef, row record) (_ record, body string) {
	_, cells, hasBody, rest := l.number(r)
	var cell string
	for range cells {
		cell, rest = nextCell(rest)
		row = append(row, cell)
	}
	if hasBody {
		body, _ = nextCell(rest)
	}
	return row, body
}

// cell returns the cell of an element in a column, from 1.
func (l *elementList) cell(r elementRef, column int) (cell string) {
	_, _, _, rest := l.number(r)
	for range column {
		cell, rest = nextCell(rest)
	}
	return cell
}

func nextCell(s string) (cell, rest string) {
	n, rest := uvarint(s)
	return rest[:n], rest[n:]
}

// uvarint is binary.Uvarint for a string, which begins with a whole number.
func uvarint(s string) (n uint64, rest string) {
	for i, shift := 0, 0; ; i, shift = i+1, shift+7 {
		b := s[i]
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, s[i+1:]
		}
	}
}

// setKeys prepares the elements to be sorted.
func (l *elementList) setKeys(o elementOrder) {
	for i := range l.refs {
		r := &l.refs[i]
		r.place &^= isText
		if o.column == 0 {
			n, _, _, _ := l.number(*r)
			r.key = uint64(n)
			continue
		}
		cell := l.cell(*r, o.column)
		if number, err := strconv.ParseFloat(cell, 64); err == nil {
			r.key = numberKey(number)
		} else {
			r.key = textKey(cell)
			r.place |= isText
		}
	}
}

// numberKey returns a number that orders like f; NaN comes first.
func numberKey(f float64) uint64 {
	bits := math.Float64bits(f + 0) // 0 for -0
	switch {
	case f != f:
		return 0
	case bits>>63 == 1:
		return ^bits
	}
	return bits | 1<<63
}

// textKey returns the first eight bytes of s.
func textKey(s string) uint64 {
	var first [8]byte
	copy(first[:], s)
	return binary.BigEndian.Uint64(first[:])
}

// compare orders elements with keys: numbers before other cells, and equal cells as stored.
func (l *elementList) compare(o elementOrder, a, b elementRef) int {
	c := cmp.Or(cmp.Compare(a.place&isText, b.place&isText), cmp.Compare(a.key, b.key))
	if c == 0 && o.column > 0 {
		if c = strings.Compare(l.cell(a, o.column), l.cell(b, o.column)); c == 0 {
			first, _, _, _ := l.number(a)
			second, _, _, _ := l.number(b)
			c = first - second
		}
	}
	if o.reverse {
		return -c
	}
	return c
}

// sort sorts elements with keys.
func (l *elementList) sort(o elementOrder) {
	slices.SortFunc(l.refs, func(a, b elementRef) int { return l.compare(o, a, b) })
}

// take appends the elements of more that keep accepts.
func (l *elementList) take(more *elementList, keep func(r elementRef) bool) {
	base := uint64(len(l.blocks)) << offsetBits
	before := len(l.refs)
	l.blocks, l.held = append(l.blocks, more.blocks...), l.held+more.held
	for _, r := range more.refs {
		if r.place += base; keep(r) {
			l.refs = append(l.refs, r)
			l.bytes += l.size(r)
		}
	}
	if len(l.refs) == before {
		l.blocks, l.held = l.blocks[:base>>offsetBits], l.held-more.held
	}
	l.reclaim()
}

// keepFirst keeps the first elements within the limits, and at least one.
func (l *elementList) keepFirst(most limits) {
	bytes := 0
	for i, r := range l.refs {
		if size := l.size(r); i > 0 && (i >= most.elements || bytes+size > most.bytes) {
			l.refs = l.refs[:i]
			break
		} else {
			bytes += size
		}
	}
	l.bytes = bytes
	l.reclaim()
}

// reclaim frees the memory of dropped elements if they take more than the others.
func (l *elementList) reclaim() {
	if l.held <= 2*l.bytes+blockBytes {
		return
	}
	to := elementList{refs: l.refs[:0]}
	for _, r := range l.refs {
		place := uint64(len(to.blocks))<<offsetBits | uint64(len(to.block))
		to.block = append(to.block, l.packed(r)[:l.size(r)]...)
		to.refs = append(to.refs, elementRef{r.key, r.place&isText | place})
		to.end()
	}
	to.flush()
	to.bytes = l.bytes
	*l = to
}

// clone returns a list that can be sorted apart from l.
func (l *elementList) clone() elementList {
	c := *l
	c.refs, c.blocks = slices.Clone(l.refs), slices.Clip(l.blocks)
	return c
}
