package value

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

// source describes how the value of one type is counted, fetched in chunks and laid out. Known types
// outside sources use a generic source.
type source struct {
	sourceShape

	count   string                                                // the command that counts elements or bytes
	unit    [2]string                                             // the unit, singular and plural
	columns []column                                              // the parts of an element; none for bytes
	per     int64                                                 // the most elements or bytes per chunk; 0 if the chunks form a chain of cursors
	fetch   func(key string, i int64, from chunkRequest) [][]byte // the call for chunk i of from.n elements, or in a chain for the chunk at from
	decode  func(first int64, v resp.Value) *chunk                // parses a reply; first is the number of its first element, if chunks have numbers

	// detailCall returns one more command about the elements of a chunk, and addDetails adds its reply.
	// Both are nil without such a command. A target may refuse it.
	detailCall func(key string, c *chunk) [][]byte
	addDetails func(c *chunk, v resp.Value)

	// summary returns the number of elements, if no command counts them, and a chart; nil without either.
	summary func(ctx context.Context, c *client.Conn, db int, key string) (size int64, ch *chart, err error)

	// inner returns the source of the sheet that an element leads to; nil if it opens as itself.
	inner func(row record) *source
}

// sourceShape describes the elements of a source.
type sourceShape struct {
	// part selects the part of a stream that the source shows, and group its consumer group.
	part  ui.Part
	group string
	// other shows the other side of the same value; nil for a value with one side.
	other *source
	// full is set if every chunk of a chain except the last has all the elements requested.
	full bool
	// repeats is set if a chunk may repeat elements of an earlier chunk.
	repeats bool
	// nameColumn indexes, from 0, the column that identifies an element when it is deleted.
	nameColumn int
	// scoreColumn numbers the column of scores from 1; 0 means no scores.
	scoreColumn int
	// fetchedWhole is set if the value is text that is fetched whole, unless it is too large.
	fetchedWhole bool
}

// column describes a column of a table of elements. The last column takes the remaining width.
type column struct {
	title      string
	maxPercent int  // the most of the width it may take, in percent; 0: no limit
	right      bool // aligned right
	expiry     bool // the cells are expiry times in Unix ms; the column is hidden if all are empty
}

const (
	perChunk   = 100      // elements per chunk, if they are small
	probeCount = 10       // elements fetched first, while their size is unknown
	windowSize = 64 << 10 // bytes
	overlap    = 3        // bytes of the next window that may complete a UTF-8 character
)

var sources = map[string]*source{
	"string": {
		per: windowSize,
		fetch: func(key string, i int64, _ chunkRequest) [][]byte {
			return client.Command("GETRANGE", key, client.Decimal(i*windowSize), client.Decimal((i+1)*windowSize+overlap-1))
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
		columns: []column{{title: "#", right: true}, {title: "SCORE", right: true}, {title: "MEMBER"}}, sourceShape: sourceShape{scoreColumn: 2, nameColumn: 2},
		decode: ranked,
	},
	"hash": {
		sourceShape: sourceShape{repeats: true},
		columns:     []column{{title: "FIELD", maxPercent: 40}, {title: "TTL", right: true, expiry: true}, {title: "VALUE"}},
		decode:      fields, detailCall: fieldExpiries, addDetails: learnExpiries,
	},
	"set": {
		sourceShape: sourceShape{repeats: true},
		columns:     []column{{title: "MEMBER"}},
		decode:      func(_ int64, v resp.Value) *chunk { return scanned(v, 1) },
	},
	"stream": entriesOf,
	"array":  slotsOf,

	keytype.Series: samplesOf,

	"vectorset": vectorsOf,
	keytype.JSON: {
		unit: [2]string{"byte", "bytes"}, sourceShape: sourceShape{fetchedWhole: true},
		decode: func(_ int64, v resp.Value) *chunk { return &chunk{data: v.Str, size: len(v.Str)} },
	},
}

func init() {
	entriesOf.other, groupsOf.other = groupsOf, entriesOf
	for kind, s := range sources {
		s.applyType(keytype.Of(kind))
	}
}

// applyType sets the count command and the unit from t, and the page call unless s has its own.
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
			cursor = client.Decimal(i * int64(from.n))
		case cursor == firstRequest.cursor:
			cursor = ""
		}
		return t.PageAt([]byte(key), cursor, from.n)
	}
}

// sourceOf returns the source for a type, or nil for an unknown type. A known type outside sources
// shows its elements in their parts.
func sourceOf(kind string) *source {
	t := keytype.Of(kind)
	if s := sources[kind]; s != nil || !t.IsKnown() {
		return s
	}
	s := &source{sourceShape: sourceShape{repeats: t.Pages == keytype.ByCursor}}
	for _, part := range t.Parts {
		s.columns = append(s.columns, column{title: strings.ToUpper(part)})
	}
	if t.Pages == keytype.ByPlace {
		s.per = perChunk
	}
	s.decode = func(first int64, v resp.Value) *chunk {
		elements, next, err := t.Elements(v, client.Decimal(first), 1)
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

// genericSources caches one *source per type name for the types outside sources.
var genericSources sync.Map

// fields parses an HSCAN page and leaves a cell for the expiry of each field.
func fields(_ int64, v resp.Value) *chunk {
	c := scanned(v, 2)
	for i, row := range c.rows {
		c.rows[i] = record{row[0], "", row[1]}
	}
	return c
}

// fieldExpiries returns the command for the expiry times of the fields of a chunk.
func fieldExpiries(key string, c *chunk) [][]byte {
	words := []string{"HPEXPIRETIME", key, "FIELDS", client.Decimal(int64(len(c.rows)))}
	for _, row := range c.rows {
		words = append(words, row[0])
	}
	return client.Command(words...)
}

func learnExpiries(c *chunk, v resp.Value) {
	for i, e := range v.Elems {
		if at := client.Number(e); i < len(c.rows) && at > 0 {
			c.rows[i][1] = client.Text(e)
			c.expiresAt = min(cmp.Or(c.expiresAt, at), at)
		}
	}
}

// firstRequest requests the beginning of a value.
var firstRequest = chunkRequest{"0", probeCount}

// read parses the reply to fetch as chunk i.
func (s *source) read(i int, from chunkRequest, v resp.Value) *chunk {
	c := s.decode(int64(i)*int64(from.n), v)
	if s.full && len(c.rows) < from.n {
		c.next = ""
	}
	return c
}

// chunksOf returns the number of chunks of a value with n elements or bytes and per of them per chunk;
// -1 if the chunks form a chain.
func chunksOf(n, per int64) int {
	if per == 0 {
		return -1
	}
	return int((n + per - 1) / per)
}

// window returns a chunk of bytes.
func window(data []byte) *chunk {
	return &chunk{data: data, size: min(len(data), windowSize)}
}

func indexed(first int64, v resp.Value) *chunk {
	c := &chunk{}
	for j, e := range v.Elems {
		c.rows = append(c.rows, record{client.Decimal(first + int64(j)), client.Text(e)})
	}
	return c
}

// ranked parses members with scores, in pairs or flat.
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
		rank := client.Decimal(first + int64(j/2))
		c.rows = append(c.rows, record{rank, score(flat[j+1]), client.Text(flat[j])})
	}
	return c
}

// score returns the shortest text of a score that parses to the same value, with an exponent only for
// very large or small numbers.
func score(v resp.Value) string {
	f, err := strconv.ParseFloat(client.Text(v), 64)
	if err != nil {
		return client.Text(v)
	}
	return scoreText(f)
}

// scoreText is score for a number.
func scoreText(f float64) string {
	switch size := math.Abs(f); {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case size == 0 || 1e-5 <= size && size < 1e17:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// scanned parses a SCAN-family reply: the cursor and elements of n parts each.
func scanned(v resp.Value, n int) *chunk {
	next, elems := client.CursorReply(v)
	c := &chunk{next: next}
	for ; len(elems) >= n; elems = elems[n:] {
		row := make(record, n)
		for i := range row {
			row[i] = client.Text(elems[i])
		}
		c.rows = append(c.rows, row)
	}
	return c
}
