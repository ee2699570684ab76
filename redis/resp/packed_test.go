package resp_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// packedOf returns a reply of random rows, packed and not. The rows are packed in a random order of their seq, and
// some have a long bulk.
func packedOf(kind resp.Kind, rows int, random *rand.Rand) (packed, plain resp.Value) {
	width := 1
	if kind == resp.Map || kind == resp.Scored {
		width = 2
	}
	plain = resp.Value{Kind: kind}
	for i := range rows {
		text := fmt.Appendf(nil, "é\r\n\"%d\x00\xff", i)
		switch {
		case kind == resp.Array && i == 100: // longer than a piece
			text = append(text, make([]byte, 300<<10)...)
		case random.IntN(50) == 0:
			text = append(text, make([]byte, random.IntN(4<<10))...)
		}
		plain.Elems = append(plain.Elems, resp.MakeBulk(text))
		switch {
		case width == 2 && kind == resp.Scored:
			plain.Elems = append(plain.Elems, resp.MakeDouble(float64(i)/3))
		case width == 2:
			plain.Elems = append(plain.Elems, resp.MakeBulk(bytes.Repeat([]byte{'v'}, i%5)))
		}
	}
	p := resp.NewPacked(width)
	for _, i := range random.Perm(rows) {
		row, size := plain.Elems[i*width:(i+1)*width], 0
		for _, e := range row {
			size += len(e.Str)
		}
		p.Row(int64(i), size)
		for _, e := range row {
			if e.Kind == resp.Double {
				p.Double(e.Float)
			} else {
				p.Bulk(e.Str)
			}
		}
	}
	p.Sort(func(int) {})
	return resp.Value{Kind: kind, Packed: p}, plain
}

// TestPacked writes and prints packed replies in every protocol and format, and compares them with the same replies
// in Elems.
func TestPacked(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	comma := ", "
	for _, kind := range []resp.Kind{resp.Array, resp.Set, resp.Map, resp.Scored} {
		for _, rows := range []int{0, 1, 2, 120} {
			packed, plain := packedOf(kind, rows, random)
			same := func(what string, got, want []byte) {
				t.Helper()
				if !bytes.Equal(got, want) {
					t.Errorf("kind %d, %d rows, %s: %.200q, want %.200q", kind, rows, what, got, want)
				}
			}
			if packed.Len() != plain.Len() {
				t.Errorf("kind %d: %d elements, want %d", kind, packed.Len(), plain.Len())
			}
			same("RESP2", resp.Append2(nil, packed), resp.Append2(nil, plain))
			same("RESP3", resp.Append3(nil, packed), resp.Append3(nil, plain))
			var sent []byte
			rest := resp.Stream(nil, packed, true, func(b []byte) { sent = append(sent, b...) })
			same("in pieces", append(sent, rest...), resp.Append3(nil, plain))
			for format := resp.Typed; format <= resp.JSON; format++ {
				for i := range 16 {
					p := resp.Printer{Format: format, RESP3: i&1 != 0, Visible: i&2 != 0, Escape: i&4 != 0}
					if i&8 != 0 {
						p.Quoted, p.Colour, p.Between, p.After = true, true, &comma, &comma
					}
					var got bytes.Buffer
					if err := p.Write(&got, packed); err != nil {
						t.Fatal(err)
					}
					same(fmt.Sprintf("%+v", p), got.Bytes(), p.Append(nil, plain))
				}
			}
		}
	}
}

// TestPackedFilter filters rows twice, the first time with a panic in between, and then reverses them.
func TestPackedFilter(t *testing.T) {
	p := resp.NewPacked(1)
	var want []string
	const rows = 100_000 // several pieces
	for i := range rows {
		name := fmt.Sprint(i)
		p.Row(0, len(name))
		p.Bulk([]byte(name))
		if i%3 == 0 {
			want = append(want, name)
		}
	}
	n := 0
	keep := func(name []byte) bool {
		if n++; n == rows/2 {
			panic("too long")
		}
		i, _ := strconv.Atoi(string(name))
		return i%3 == 0
	}
	func() {
		defer func() { recover() }()
		p.Filter(keep)
	}()
	p.Filter(keep)
	p.Reverse()
	slices.Reverse(want)
	var got []string
	for v := range p.All() {
		got = append(got, string(v.Str))
	}
	if p.Len() != len(want) || !slices.Equal(got, want) {
		t.Errorf("%d elements of %d: %.100q", len(got), p.Len(), got)
	}
	if most := int64(rows * 24); p.Size() > most {
		t.Errorf("%d elements take %d bytes, want at most %d", rows, p.Size(), most)
	}
}
