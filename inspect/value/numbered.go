package value

// Numbered elements are fetched by index. The number per chunk is chosen so that a chunk stays small
// and a screen of large elements, such as a list of pictures, loads quickly.

// maxChunkBytes limits the size of a chunk. Above it, a sheet switches to fewer elements per chunk.
const maxChunkBytes = 16 * targetChunkBytes

// numbered reports whether s shows elements fetched by index.
func (s *sheet) numbered() bool { return s.isTable() && s.src.per > 0 && s.filter == nil }

// startRequest returns the request for the first chunk.
func (s *sheet) startRequest() chunkRequest {
	if s.numbered() {
		return chunkRequest{firstRequest.cursor, int(s.per)}
	}
	return s.pager.starts[0]
}

// startFrom sets the request for the first chunk of a sheet without chunks.
func (s *sheet) startFrom(from chunkRequest) {
	if s.pager.starts[0] = from; s.numbered() {
		s.rechunk(int64(from.n))
	}
}

// index returns the index of the element at a position.
func (s *sheet) index(at position) int64 { return int64(at.chunk)*s.per + int64(at.line) }

// adjustChunkSize chooses the elements per chunk from the first chunk, and lowers it when larger
// elements arrive.
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

// rechunk redistributes the loaded elements to chunks of per elements. A chunk that is only partly
// loaded shows its loaded part until it is fetched.
func (s *sheet) rechunk(per int64) {
	p := &s.pager
	top, cursor := s.index(p.top), s.index(p.cursor)
	rows, stale := map[int64]record{}, map[int64]bool{}
	for i, c := range p.chunks {
		for line, row := range c.rows {
			n := s.index(position{i, line})
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
	p.top, p.cursor = position{int(top / per), int(top % per)}, position{int(cursor / per), int(cursor % per)}
	p.before = []int64{0}
	p.settle()
	p.seekDestination()
}

// contiguousRows returns the chunk of the rows from first to end, up to the first gap.
func contiguousRows(rows map[int64]record, stale map[int64]bool, first, end int64) *chunk {
	c := &chunk{}
	for n := first; n < end && rows[n] != nil; n++ {
		c.rows = append(c.rows, rows[n])
		c.stale = c.stale || stale[n]
	}
	c.stale = c.stale || int64(len(c.rows)) < end-first
	return c
}
