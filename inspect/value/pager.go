package value

import (
	"github.com/meowdis/meowdis/inspect/screen"
)

// chunk is one fetched part of a value: some elements, or a window of a string's bytes.
type chunk struct {
	rows       []record      // one cell per column
	bodies     []string      // the elements in full, when the last cell is not the full element
	data       []byte        // the bytes, plus up to three of the next chunk to complete a UTF-8 character
	size       int           // the bytes of data that belong to this chunk
	lines      []screen.Span // data as screen lines, in the current form and width
	next       string        // in a chain: the cursor of the next chunk; "" after the last chunk
	expiresAt  int64         // when the first of the elements expires, Unix ms; 0: none expires
	stale      bool          // fetch it again when it is on the screen
	hasDetails bool          // the extra facts about the elements were fetched
}

// bytes returns roughly how much memory the elements use.
func (c *chunk) bytes() (n int) {
	for _, row := range c.rows {
		for _, cell := range row {
			n += len(cell)
		}
	}
	return n
}

// chunkRequest asks for one chunk of a chain: the cursor it starts at and the number of elements.
type chunkRequest struct {
	cursor string
	n      int
}

// Bounds on a chunk: the most elements when a chain is read quickly, and the bytes that every chunk
// aims for.
const (
	maxChunkElements = 2000
	targetChunkBytes = 256 << 10
)

// nextRequest returns the request for the chunk after c, given that c was requested with n elements. It
// asks for a screenful, for more in a hurry, and for less when the elements are large.
func (c *chunk) nextRequest(n int, hurry bool) chunkRequest {
	switch fit := c.fittingCount(maxChunkElements); {
	case fit < n:
		n = fit
	case hurry:
		n = min(2*n, fit)
	default:
		n = min(fit, perChunk)
	}
	return chunkRequest{c.next, n}
}

// fittingCount returns how many elements of the size of c's fit in one chunk, at most most.
func (c *chunk) fittingCount(most int) int {
	if len(c.rows) == 0 {
		return most
	}
	each := c.bytes()/len(c.rows) + 1
	return max(min(targetChunkBytes/each, most), 1)
}

// record is one element of a collection.
type record []string

func (c *chunk) len() int { return max(len(c.rows), len(c.lines)) }

// body returns row i in full.
func (c *chunk) body(i int) string {
	if c.bodies != nil {
		return c.bodies[i]
	}
	return c.rows[i][len(c.rows[i])-1]
}

// position identifies a line of the value: a chunk and a line in the chunk.
type position struct{ chunk, line int }

func (s position) before(o position) bool {
	return s.chunk < o.chunk || s.chunk == o.chunk && s.line < o.line
}

// pager scrolls over chunks and keeps only the chunks near the screen in memory. It moves within the
// loaded chunks; missing returns the chunk to load next.
type pager struct {
	chunks      map[int]*chunk
	count       int            // the number of chunks; -1 while unknown
	chain       bool           // each chunk holds the cursor of the next one
	starts      []chunkRequest // in a chain: the known requests, one per chunk
	before      []int64        // the number of lines before each chunk read so far in order
	top         position       // the first line on the screen
	cursor      position       // the selected line
	height      int            // lines on the screen
	selectable  bool           // a line can be selected; otherwise the cursor is the top line
	destination destination    // where the screen moves as chunks load
	pendingMove int            // lines still to move once the chunks there are loaded
}

// destination records the target of a pager's movement while chunks are still loading.
type destination int

const (
	noDestination destination = iota
	lastLine                  // the last line of the value
)

// newPager returns a pager over count chunks. A count of -1 means that the chunks form a chain of
// cursors with an unknown end.
func newPager(count int, picks bool) pager {
	return pager{chunks: map[int]*chunk{}, count: count, chain: count < 0, starts: []chunkRequest{firstRequest}, before: []int64{0}, selectable: picks}
}

// maxScreensAhead bounds how many screens the user can move ahead of the loaded chunks.
const maxScreensAhead = 10

// chunkMargin limits the chunks beyond the screen that stay in memory.
const chunkMargin = 2

// add stores chunk i, drops the chunks far from the screen, and continues towards the destination.
func (p *pager) add(i int, c *chunk) {
	p.chunks[i] = c
	if len(p.before) == i+1 {
		p.before = append(p.before, p.before[i])
	}
	if len(p.before) > i+1 {
		more := p.before[i] + int64(c.len()) - p.before[i+1]
		for j := i + 1; j < len(p.before); j++ {
			p.before[j] += more
		}
	}
	if p.endless() && len(p.starts) == i+1 {
		if c.next == "" {
			p.count = i + 1
		} else {
			p.starts = append(p.starts, c.nextRequest(p.starts[i].n, p.destination == lastLine))
		}
	}
	p.settle()
	p.seekDestination()
	if p.pendingMove != 0 {
		p.move(0)
	}
	bottom, _ := p.advance(p.top, p.height-1)
	for j := range p.chunks {
		if j < p.top.chunk-chunkMargin || j > max(bottom.chunk+chunkMargin, i) {
			delete(p.chunks, j)
		}
	}
}

// diverges reports whether chunk i of a chain, fetched again, ends at another cursor than before.
func (p *pager) diverges(i int, c *chunk) bool {
	switch {
	case !p.chain || len(p.before) <= i+1:
		return false
	case i+1 < len(p.starts):
		return c.next != p.starts[i+1].cursor
	}
	return c.next != ""
}

// forgetAfter drops everything known about the chunks after chunk i.
func (p *pager) forgetAfter(i int) {
	p.starts, p.before, p.count = p.starts[:i+1], p.before[:i+1], -1
	for j := range p.chunks {
		if j > i {
			delete(p.chunks, j)
		}
	}
}

// resume takes over the place of old, a pager over an older version of the value. The chunks of old are
// shown until they are fetched again.
func (p *pager) resume(old *pager) {
	if p.chain != old.chain {
		return
	}
	p.top, p.cursor, p.destination = old.top, old.cursor, old.destination
	if p.chain {
		p.starts, p.before, p.count = old.starts, old.before, old.count
	}
	last := p.furthest()
	for i, c := range old.chunks {
		if i <= last {
			c.stale = true
			p.chunks[i] = c
		}
	}
	for _, s := range []*position{&p.top, &p.cursor} {
		if s.chunk > last {
			*s = position{max(last, 0), 0}
		}
	}
}

// settle moves the screen and the selection back onto existing lines and fills the screen. It is called
// after the value or the screen changed size.
func (p *pager) settle() {
	p.top, p.cursor = p.nearestLine(p.top), p.nearestLine(p.cursor)
	p.reveal()
	bottom, went := p.advance(p.top, p.height-1)
	if _, more := p.next(bottom); went < p.height-1 && !more && bottom.chunk == p.furthest() {
		p.top, _ = p.retreat(bottom, p.height-1)
		if !p.selectable {
			p.cursor = p.top
		}
	}
}

// nearestLine returns s, or the nearest existing line among the loaded chunks.
func (p *pager) nearestLine(s position) position {
	c := p.chunks[s.chunk]
	if c == nil {
		return s
	}
	s.line = max(min(s.line, c.len()-1), 0)
	if c.len() > 0 {
		return s
	}
	if prev, ok := p.prev(s); ok {
		return prev
	}
	if next, ok := p.next(s); ok {
		return next
	}
	return s
}

// endless reports whether the end of the chain is still unknown.
func (p *pager) endless() bool { return p.count < 0 }

// furthest returns the last chunk that can be requested.
func (p *pager) furthest() int {
	if p.endless() {
		return len(p.starts) - 1
	}
	return p.count - 1
}

// advance moves up to n lines down from s within the loaded chunks and returns the number of lines
// moved.
func (p *pager) advance(s position, n int) (position, int) {
	went := 0
	for went < n {
		next, ok := p.next(s)
		if !ok {
			break
		}
		s = next
		went++
	}
	return s, went
}

func (p *pager) next(s position) (position, bool) {
	for c := p.chunks[s.chunk]; c != nil; c = p.chunks[s.chunk] {
		if s.line+1 < c.len() {
			return position{s.chunk, s.line + 1}, true
		}
		s = position{s.chunk + 1, -1}
	}
	return s, false
}

// retreat moves up to n lines up from s within the loaded chunks and returns the number of lines moved.
func (p *pager) retreat(s position, n int) (position, int) {
	went := 0
	for went < n {
		prev, ok := p.prev(s)
		if !ok {
			break
		}
		s = prev
		went++
	}
	return s, went
}

func (p *pager) prev(s position) (position, bool) {
	if s.line > 0 {
		return position{s.chunk, s.line - 1}, true
	}
	for i := s.chunk - 1; p.chunks[i] != nil; i-- {
		if n := p.chunks[i].len(); n > 0 {
			return position{i, n - 1}, true
		}
	}
	return s, false
}

// move moves n lines down, or up if n is negative. The part beyond the loaded chunks follows when they
// load.
func (p *pager) move(n int) {
	p.destination = noDestination
	n += p.pendingMove
	p.pendingMove = 0
	from, went := p.cursor, 0
	switch {
	case n > 0 && p.selectable:
		p.cursor, went = p.advance(p.cursor, n)
		from = p.cursor
	case n > 0: // the last line never scrolls above the bottom of the screen
		bottom, _ := p.advance(p.top, p.height-1)
		from, went = p.advance(bottom, n)
		p.top, _ = p.advance(p.top, went)
	case p.selectable:
		p.cursor, went = p.retreat(p.cursor, -n)
	default:
		p.top, went = p.retreat(p.top, -n)
	}
	if n > went && p.hasUnloadedAfter(from) {
		p.pendingMove = min(n-went, maxScreensAhead*p.height)
	}
	if -n > went && p.hasUnloadedBefore() {
		p.pendingMove = max(n+went, -maxScreensAhead*p.height)
	}
	if !p.selectable {
		p.cursor = p.top
	}
	p.reveal()
}

// hasUnloadedAfter reports whether lines after s are not loaded yet.
func (p *pager) hasUnloadedAfter(s position) bool {
	next, ok := p.next(s)
	return !ok && p.chunks[next.chunk] == nil && next.chunk <= p.furthest()
}

// hasUnloadedBefore reports whether lines before the cursor are not loaded yet.
func (p *pager) hasUnloadedBefore() bool {
	i := p.cursor.chunk
	for i >= 0 && p.chunks[i] != nil {
		i--
	}
	return i >= 0
}

// reveal scrolls so that the selected line is on the screen.
func (p *pager) reveal() {
	if p.cursor.before(p.top) {
		p.top = p.cursor
		return
	}
	if first, _ := p.retreat(p.cursor, p.height-1); p.top.before(first) {
		p.top = first
	}
}

// adoptChunks takes over the chunk boundaries that a search found.
func (p *pager) adoptChunks(t *chunkCursor) {
	p.starts, p.before, p.count = t.starts, t.before, t.count
	p.chunks = map[int]*chunk{}
}

// jump selects a line found by a search.
func (p *pager) jump(to position) {
	p.destination, p.pendingMove = noDestination, 0
	p.cursor = to
	p.top, _ = p.retreat(to, p.height/3)
	if !p.selectable {
		p.cursor = p.top
	}
}

func (p *pager) home() {
	p.destination, p.pendingMove = noDestination, 0
	p.top, p.cursor = position{}, position{}
}

// seekDestination moves towards the destination within the loaded chunks, and clears the destination
// once a full screen is loaded there.
func (p *pager) seekDestination() {
	goal := p.destinationChunk()
	if goal < 0 {
		return
	}
	p.cursor = position{goal, 0}
	if c := p.chunks[goal]; c != nil {
		p.cursor = p.nearestLine(position{goal, c.len() - 1})
	}
	var went int
	p.top, went = p.retreat(p.cursor, p.height-1)
	if !p.selectable {
		p.cursor = p.top
	}
	full := went == p.height-1 || p.top.chunk == 0
	if full && p.chunks[goal] != nil && !p.endless() {
		p.destination = noDestination
	}
}

// destinationChunk returns the chunk whose last line is the destination, or -1.
func (p *pager) destinationChunk() int {
	if p.destination == noDestination {
		return -1
	}
	return p.furthest()
}

// missing returns a chunk that the screen or the next key press needs. A chunk on the way to the
// destination comes first.
func (p *pager) missing() (int, bool) {
	for _, c := range []int{p.destinationChunk(), p.top.chunk, p.missingBelow(), p.top.chunk - 1} {
		if c >= 0 && c <= p.furthest() && p.needs(c) {
			return c, true
		}
	}
	return 0, false
}

// needs reports whether chunk i must be fetched.
func (p *pager) needs(i int) bool { return p.chunks[i] == nil || p.chunks[i].stale }

// missingBelow returns the first chunk to fetch within one screen below the screen. If the elements are
// large, it looks only at the screen itself.
func (p *pager) missingBelow() int {
	s, lines, bytes := p.top, 2*p.height, 0
	for i := s.chunk; ; i++ {
		c := p.chunks[i]
		if p.needs(i) {
			return i
		}
		lines -= c.len() - s.line
		bytes += c.bytes()
		s.line = 0
		if lines < 0 || lines < p.height && bytes > targetChunkBytes {
			return i
		}
	}
}

// lineCount returns the number of lines of a chain; ok is false until the chain was read to its end in
// order.
func (p *pager) lineCount() (int64, bool) {
	last := len(p.before) - 1
	return p.before[last], p.chain && p.count == last
}

// lineNumber returns the number of the line at s, from 1; ok is false while it is unknown.
func (p *pager) lineNumber(s position) (int64, bool) {
	if s.chunk >= len(p.before) {
		return 0, false
	}
	return p.before[s.chunk] + int64(s.line) + 1, true
}

// waiting reports whether the user waits for the line they moved to. The end of a chain may be far
// away; a user who moves on the way there stays at that line.
func (p *pager) waiting() bool {
	return p.pendingMove != 0 || p.destination == lastLine && !p.endless()
}
