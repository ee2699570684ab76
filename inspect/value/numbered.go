package value

// Elements with numbers are fetched by their numbers, so many a chunk that a chunk is
// not heavy: nobody waits long for a screen of a list of pictures.

// mostHeavy is how many bytes a chunk may have before its sheet goes on with fewer
// elements a chunk.
const mostHeavy = 16 * heaviestChunk

// numbered reports whether s shows elements that are asked for by their numbers.
func (s *sheet) numbered() bool { return s.tabular() && s.src.per > 0 && s.sieve == nil }

// begins is the link to the first chunk.
func (s *sheet) begins() link {
	if s.numbered() {
		return link{firstLink.cursor, int(s.per)}
	}
	return s.pager.starts[0]
}

// begin makes from the link to the first chunk of a sheet that has none yet.
func (s *sheet) begin(from link) {
	if s.pager.starts[0] = from; s.numbered() {
		s.recut(int64(from.n))
	}
}

// index is the number of the element at a spot.
func (s *sheet) index(at spot) int64 { return int64(at.chunk)*s.per + int64(at.line) }

// fit chooses how many elements a chunk has, by the first ones, and fewer when heavier
// ones come.
func (s *sheet) fit(c *chunk) {
	size := int64(c.bytes())
	switch {
	case !s.fitted:
		s.fitted = true
		s.recut(int64(c.fitting(int(s.src.per))))
	case size > mostHeavy && s.per > 1:
		s.recut(max(s.per*mostHeavy/size, 1))
	}
}

// recut parts the elements anew, with another number of them a chunk. A chunk of which
// only the beginning is there shows that until it is fetched.
func (s *sheet) recut(per int64) {
	p := &s.pager
	top, cursor := s.index(p.top), s.index(p.cursor)
	rows, stale := map[int64]record{}, map[int64]bool{}
	for i, c := range p.chunks {
		for line, row := range c.rows {
			n := s.index(spot{i, line})
			rows[n], stale[n] = row, c.stale
		}
	}
	s.per = per
	p.chunks, p.count = map[int]*chunk{}, chunksOf(s.size, per)
	for n := range rows {
		if i := int(n / per); p.chunks[i] == nil {
			if c := cutOut(rows, stale, int64(i)*per, min(int64(i+1)*per, s.size)); len(c.rows) > 0 {
				p.chunks[i] = c
			}
		}
	}
	p.top, p.cursor = spot{int(top / per), int(top % per)}, spot{int(cursor / per), int(cursor % per)}
	p.before = []int64{0}
	p.settle()
	p.follow()
}

// cutOut is the chunk of the rows from first to end, as far as they are there without
// a gap.
func cutOut(rows map[int64]record, stale map[int64]bool, first, end int64) *chunk {
	c := &chunk{}
	for n := first; n < end && rows[n] != nil; n++ {
		c.rows = append(c.rows, rows[n])
		c.stale = c.stale || stale[n]
	}
	c.stale = c.stale || int64(len(c.rows)) < end-first
	return c
}
