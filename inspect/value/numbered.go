package value

// Elements with numbers are fetched by their numbers, so many a chunk that a chunk is
// not heavy: nobody waits long for a screen of a list of pictures.

// maxChunkBytes is how many bytes a chunk may have before its sheet goes on with fewer
// elements a chunk.
const maxChunkBytes = 16 * targetChunkBytes

// numbered reports whether s shows elements that are asked for by their numbers.
func (s *sheet) numbered() bool { return s.isTable() && s.src.per > 0 && s.filter == nil }

// startRequest is the link to the first chunk.
func (s *sheet) startRequest() chunkRequest {
	if s.numbered() {
		return chunkRequest{firstRequest.cursor, int(s.per)}
	}
	return s.pager.starts[0]
}

// startFrom makes from the link to the first chunk of a sheet that has none yet.
func (s *sheet) startFrom(from chunkRequest) {
	if s.pager.starts[0] = from; s.numbered() {
		s.rechunk(int64(from.n))
	}
}

// index is the number of the element at a spot.
func (s *sheet) index(at spot) int64 { return int64(at.chunk)*s.per + int64(at.line) }

// adjustChunkSize chooses how many elements a chunk has, by the first ones, and fewer when heavier
// ones come.
func (s *sheet) adjustChunkSize(c *chunk) {
	size := int64(c.bytes())
	switch {
	case !s.sized:
		s.sized = true
		s.rechunk(int64(c.fittingCount(int(s.src.per))))
	case size > maxChunkBytes && s.per > 1:
		s.rechunk(max(s.per*maxChunkBytes/size, 1))
	}
}

// rechunk parts the elements anew, with another number of them a chunk. A chunk of which
// only the beginning is there shows that until it is fetched.
func (s *sheet) rechunk(per int64) {
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
			if c := contiguousRows(rows, stale, int64(i)*per, min(int64(i+1)*per, s.size)); len(c.rows) > 0 {
				p.chunks[i] = c
			}
		}
	}
	p.top, p.cursor = spot{int(top / per), int(top % per)}, spot{int(cursor / per), int(cursor % per)}
	p.before = []int64{0}
	p.settle()
	p.seekDestination()
}

// contiguousRows is the chunk of the rows from first to end, as far as they are there without
// a gap.
func contiguousRows(rows map[int64]record, stale map[int64]bool, first, end int64) *chunk {
	c := &chunk{}
	for n := first; n < end && rows[n] != nil; n++ {
		c.rows = append(c.rows, rows[n])
		c.stale = c.stale || stale[n]
	}
	c.stale = c.stale || int64(len(c.rows)) < end-first
	return c
}
