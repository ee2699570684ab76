package value

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/resp"
)

// source says how the value of one type is counted, fetched in chunks and laid
// out. A type that is not in sources is shown by its name only.
type source struct {
	count   string                                                // the command that counts elements, or bytes
	unit    [2]string                                             // the name of one and of many
	columns []column                                              // what an element consists of; none for bytes
	per     int64                                                 // elements a chunk at most, or bytes; 0 when chunks form a chain of cursors
	fetch   func(key string, i int64, from chunkRequest) [][]byte // chunk i of as many elements as the link says, or the one at a link
	decode  func(first int64, v resp.Value) *chunk                // a reply; first is the number of its first element where chunks have numbers

	// detailCall is one more command about the elements of a chunk, and learn takes its
	// reply in; nil where there is none. A target may refuse it.
	detailCall func(key string, c *chunk) [][]byte
	addDetails func(c *chunk, v resp.Value)

	// inner is what an element leads to; nil where it is the element itself.
	inner func(row record) *source
	// part is what of a stream it is, and group of which of its groups.
	part  room.Part
	group string
	// other is another side of the same value, nil where there is none.
	other *source
	// full tells that every chunk of a chain but the last has all elements that it
	// was asked for.
	full bool
	// repeats tells that a chunk may bring again what one before it brought.
	repeats bool
	// nameColumn is which column has what an element is deleted by.
	nameColumn int
	// scoreColumn is which column has scores, from 1; 0 where none has.
	scoreColumn int
	// fetchedWhole tells that the value is text that comes as a whole, unless it is too
	// large for that.
	fetchedWhole bool
}

// column is a column of a table of elements. The last one takes the width that
// the others leave.
type column struct {
	title      string
	maxPercent int  // how much of the width it may take, in percent; 0: as much as it likes
	right      bool // set against the right side
	expiry     bool // the cells are when something ends, in Unix ms; without any the column is left out
}

const (
	perChunk   = 100      // elements, where they are small
	probeCount = 10       // elements that are fetched first: nobody knows how large they are
	windowSize = 64 << 10 // bytes
	overlap    = 3        // bytes of the next window that may finish a letter
)

var sources = map[string]*source{
	"string": {
		per: windowSize,
		fetch: func(key string, i int64, _ chunkRequest) [][]byte {
			return target.Command("GETRANGE", key, target.Decimal(i*windowSize), target.Decimal((i+1)*windowSize+overlap-1))
		},
		decode: func(_ int64, v resp.Value) *chunk { return window(v.Str) },
	},
	"list": {
		per:     perChunk,
		columns: []column{{title: "#", right: true}, {title: "VALUE"}},
		decode:  indexed,
	},
	"zset": {
		per:     perChunk,
		columns: []column{{title: "#", right: true}, {title: "SCORE", right: true}, {title: "MEMBER"}}, scoreColumn: 2, nameColumn: 2,
		decode: ranked,
	},
	"hash": {
		repeats: true,
		columns: []column{{title: "FIELD", maxPercent: 40}, {title: "TTL", right: true, expiry: true}, {title: "VALUE"}},
		decode:  fields, detailCall: fieldExpiries, addDetails: learnExpiries,
	},
	"set": {
		repeats: true,
		columns: []column{{title: "MEMBER"}},
		decode:  func(_ int64, v resp.Value) *chunk { return scanned(v, 1) },
	},
	"stream": entriesOf,
	"array":  slotsOf,

	"vectorset": vectorsOf,
	keytype.JSON: {
		unit: [2]string{"byte", "bytes"}, fetchedWhole: true,
		decode: func(_ int64, v resp.Value) *chunk { return &chunk{data: v.Str, size: len(v.Str)} },
	},
}

func init() {
	entriesOf.other, groupsOf.other = groupsOf, entriesOf
	for kind, s := range sources {
		s.applyType(keytype.Of(kind))
	}
}

// applyType takes in what is declared of a type: what is counted, and the call for a
// page unless s has one of its own.
func (s *source) applyType(t *keytype.Type) {
	s.count = t.Count
	if t.Count != "" {
		s.unit = [2]string{t.One, t.Many}
	}
	if s.fetch != nil {
		return
	}
	s.fetch = func(key string, i int64, from chunkRequest) [][]byte {
		cursor := from.cursor
		switch {
		case t.Pages == keytype.ByPlace:
			cursor = target.Decimal(i * int64(from.n))
		case cursor == firstRequest.cursor:
			cursor = ""
		}
		return t.PageAt([]byte(key), cursor, from.n)
	}
}

// sourceOf is how the values of a type are shown: as its elements in their parts where
// nothing better is known, and nil for an unknown type.
func sourceOf(kind string) *source {
	t := keytype.Of(kind)
	if s := sources[kind]; s != nil || !t.Known() {
		return s
	}
	s := &source{repeats: t.Pages == keytype.ByCursor}
	for _, part := range t.Parts {
		s.columns = append(s.columns, column{title: strings.ToUpper(part)})
	}
	if t.Pages == keytype.ByPlace {
		s.per = perChunk
	}
	s.decode = func(first int64, v resp.Value) *chunk {
		elements, next, err := t.Elements(v, target.Decimal(first), 1)
		if err != nil {
			return &chunk{}
		}
		if t.Parts == nil {
			return window(elements[0][0])
		}
		c := &chunk{next: next}
		for _, parts := range elements {
			row := make(record, len(t.Parts))
			for i := range row {
				row[i] = string(parts[i])
			}
			c.rows = append(c.rows, row)
		}
		return c
	}
	s.applyType(t)
	kept, _ := genericSources.LoadOrStore(kind, s)
	return kept.(*source)
}

// genericSources are the sources of types that are not in sources, *source by name: one each.
var genericSources sync.Map

// fields reads a page of HSCAN, with room for when each field ends.
func fields(_ int64, v resp.Value) *chunk {
	c := scanned(v, 2)
	for i, row := range c.rows {
		c.rows[i] = record{row[0], "", row[1]}
	}
	return c
}

// fieldExpiries asks when the fields of a chunk end.
func fieldExpiries(key string, c *chunk) [][]byte {
	words := []string{"HPEXPIRETIME", key, "FIELDS", target.Decimal(int64(len(c.rows)))}
	for _, row := range c.rows {
		words = append(words, row[0])
	}
	return target.Command(words...)
}

func learnExpiries(c *chunk, v resp.Value) {
	for i, e := range v.Elems {
		if at := target.Number(e); i < len(c.rows) && at > 0 {
			c.rows[i][1] = target.Text(e)
			c.expiresAt = min(cmp.Or(c.expiresAt, at), at)
		}
	}
}

// firstRequest is where every value begins.
var firstRequest = chunkRequest{"0", probeCount}

// read makes chunk i of the reply to fetch.
func (s *source) read(i int, from chunkRequest, v resp.Value) *chunk {
	c := s.decode(int64(i)*int64(from.n), v)
	if s.full && len(c.rows) < from.n {
		c.next = ""
	}
	return c
}

// chunksOf is how many chunks a value of n elements or bytes has with so many of them
// a chunk; -1 when only the cursors will tell.
func chunksOf(n, per int64) int {
	if per == 0 {
		return -1
	}
	return int((n + per - 1) / per)
}

// window is a chunk of bytes.
func window(data []byte) *chunk {
	return &chunk{data: data, size: min(len(data), windowSize)}
}

func indexed(first int64, v resp.Value) *chunk {
	c := &chunk{}
	for j, e := range v.Elems {
		c.rows = append(c.rows, record{target.Decimal(first + int64(j)), target.Text(e)})
	}
	return c
}

// ranked reads members and scores, in pairs or flat.
func ranked(first int64, v resp.Value) *chunk {
	flat := v.Elems
	if len(flat) > 0 && flat[0].Kind == resp.Array {
		flat = nil
		for _, pair := range v.Elems {
			flat = append(flat, pair.Elems...)
		}
	}
	c := &chunk{}
	for j := 0; j+1 < len(flat); j += 2 {
		rank := target.Decimal(first + int64(j/2))
		c.rows = append(c.rows, record{rank, score(flat[j+1]), target.Text(flat[j])})
	}
	return c
}

// score is the shortest form of a score that reads back the same, without an
// exponent where a person would write none.
func score(v resp.Value) string {
	f, err := strconv.ParseFloat(target.Text(v), 64)
	switch size := math.Abs(f); {
	case err != nil || math.IsInf(f, 0):
		return target.Text(v)
	case size == 0 || 1e-5 <= size && size < 1e17:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// scanned reads the reply of a SCAN family command: the cursor and elements of
// n parts each.
func scanned(v resp.Value, n int) *chunk {
	next, elems := target.CursorReply(v)
	c := &chunk{next: next}
	for ; len(elems) >= n; elems = elems[n:] {
		row := make(record, n)
		for i := range row {
			row[i] = target.Text(elems[i])
		}
		c.rows = append(c.rows, row)
	}
	return c
}
