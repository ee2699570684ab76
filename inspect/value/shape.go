package value

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/keyspace/decode"
	"github.com/meowdis/meowdis/redis/geohash"
)

// shape selects how bytes or scores are shown.
type shape int

const (
	asText shape = iota
	asHex
	asDocument
	asBits
	asPlaces // the scores of a table as longitude and latitude
)

// layout splits a chunk of bytes into lines.
func (s *sheet) layout(i int, c *chunk) {
	switch {
	case c.rows != nil:
	case s.form == asHex:
		c.lines = screen.HexLines(c.size, screen.HexWidth(s.width))
	case s.form == asBits:
		c.lines = screen.HexLines(c.size, screen.BitsWidth(s.width))
	default:
		c.lines = textWindow(i, c, s.width)
	}
}

// textWindow splits a window into lines of text. A character that spans two windows belongs to the
// first.
func textWindow(i int, c *chunk, width int) []screen.Span {
	start, end := 0, c.size
	for i > 0 && start < min(overlap, end) && isContinuation(c.data[start]) {
		start++
	}
	for end < len(c.data) && isContinuation(c.data[end]) {
		end++
	}
	lines := screen.WrapText(c.data[start:end], width)
	for j := range lines {
		lines[j].Start += start
		lines[j].End += start
	}
	return lines
}

func isContinuation(c byte) bool { return c&0xc0 == 0x80 }

// changeForm switches to the next form: decoded value, text, hex dump; bits after hex if the value does
// not decode. In a table it switches between scores and places.
func (v *viewState) changeForm() {
	s := v.sheet()
	if s == nil {
		return
	}
	if s.isTable() {
		s.form, s.widths = asPlaces-s.form, nil
		return
	}
	next := map[shape]shape{asDocument: asText, asText: asHex, asHex: asBits, asBits: asText}
	if s.doc != nil {
		next[asHex] = asDocument
	}
	s.form, s.formChosen = next[s.form], true
	if s.form == asDocument {
		s.doc.layout(s.width, s.pager.height)
		return
	}
	s.relayout(s.width)
	s.pager.settle()
	v.fillWhole()
}

// cells returns the displayed cells of a row.
func (s *sheet) cells(row record) record {
	i := s.src.scoreColumn - 1
	if s.form != asPlaces || i < 0 {
		return row
	}
	score, err := strconv.ParseFloat(row[i], 64)
	if err != nil || !geohash.IsScore(score) {
		return row
	}
	at := geohash.PointOf(score)
	row = slices.Clone(row)
	row[i] = fmt.Sprintf("%.6f, %.6f", at.Lon, at.Lat)
	return row
}

// beginningOf describes a value too long to decode, as far as its first bytes allow.
func beginningOf(data []byte) string {
	shown := decode.Value(data, decode.Options{Partial: true, DumpBytes: 1})
	note := "too long to decode"
	if names := shown.Names(); names != "binary" && names != "text" {
		note += ": " + names
	}
	return note
}
