package value

import (
	"github.com/meowdis/meowdis/inspect/screen"
)

// chunk is a part of a value, as it is fetched: some elements, or a window of a
// string's bytes.
type chunk struct {
	rows       []record      // elements, a cell a column
	bodies     []string      // the elements as they are shown alone, where that is not the last cell
	data       []byte        // bytes, with up to three of the next chunk for a letter that spans both
	size       int           // how many of data are this chunk's own
	lines      []screen.Span // data as lines of the screen, in the present form and width
	next       string        // the cursor of the chunk after this one, "" after the last; only where chunks have cursors
	expiresAt  int64         // when the first of the elements ends, Unix ms; 0: none does
	stale      bool          // to be fetched again when it is on the screen
	hasDetails bool          // what else there is to know of the elements is known
}

// bytes is about how much memory the elements take.
func (c *chunk) bytes() (n int) {
	for _, row := range c.rows {
		for _, cell := range row {
			n += len(cell)
		}
	}
	return n
}

// chunkRequest is where a chunk of a chain begins, and how many elements it is asked for.
type chunkRequest struct {
	cursor string
	n      int
}

// How large the chunks of a chain grow while nobody looks at them, in elements, and
// how many bytes any chunk should have.
const (
	maxChunkElements = 2000
	targetChunkBytes = 256 << 10
)

// nextRequest is the link to the chunk after c, which was asked for n elements: as many
// as a screen needs, more in a hurry, and few of what is heavy.
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

// fittingCount is how many elements like those of c a chunk should have, most at most.
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

// body is row i as it is shown alone.
func (c *chunk) body(i int) string {
	if c.bodies != nil {
		return c.bodies[i]
	}
	return c.rows[i][len(c.rows[i])-1]
}

// spot is a line of the value: a chunk and the line in it.
type spot struct{ chunk, line int }

func (s spot) before(o spot) bool {
	return s.chunk < o.chunk || s.chunk == o.chunk && s.line < o.line
}

// pager scrolls over chunks of which only the ones near the screen are in
// memory. It moves within what is loaded; missing says what to load next.
type pager struct {
	chunks      map[int]*chunk
	count       int            // how many chunks there are; unknown while -1
	chain       bool           // each chunk says where the next one begins
	starts      []chunkRequest // the beginning of each chunk of a chain that is known
	before      []int64        // how many lines stand before each chunk that was seen in order
	top         spot           // the first line on the screen
	cursor      spot           // the selected line
	height      int            // lines on the screen
	selectable  bool           // a line can be selected; without, the cursor is the top
	destination destination    // what the screen follows as it is found
	pendingMove int            // how far the person moved beyond the lines that are loaded
}

// destination is what a pager goes to while it is still being loaded.
type destination int

const (
	noDestination destination = iota
	lastLine                  // the last line of all
)

// newPager scrolls over count chunks; -1 means that the chunks form a chain of
// cursors, whose end is not known yet.
func newPager(count int, picks bool) pager {
	return pager{chunks: map[int]*chunk{}, count: count, chain: count < 0, starts: []chunkRequest{firstRequest}, before: []int64{0}, selectable: picks}
}

// maxScreensAhead is how many screens a person can be ahead of what is loaded.
const maxScreensAhead = 10

// chunkMargin is how far from the screen a chunk stays in memory.
const chunkMargin = 2

// add takes chunk i in, forgets what is far from the screen, and goes on to the
// end if that is wanted.
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

// diverges reports whether chunk i of a chain, fetched again, leads elsewhere than
// before.
func (p *pager) diverges(i int, c *chunk) bool {
	switch {
	case !p.chain || len(p.before) <= i+1:
		return false
	case i+1 < len(p.starts):
		return c.next != p.starts[i+1].cursor
	}
	return c.next != ""
}

// forgetAfter takes what is known of the chunks after chunk i away.
func (p *pager) forgetAfter(i int) {
	p.starts, p.before, p.count = p.starts[:i+1], p.before[:i+1], -1
	for j := range p.chunks {
		if j > i {
			delete(p.chunks, j)
		}
	}
}

// resume goes on where old was in an older version of the value. What it had loaded
// is shown until it is fetched again.
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
	for _, s := range []*spot{&p.top, &p.cursor} {
		if s.chunk > last {
			*s = spot{max(last, 0), 0}
		}
	}
}

// settle moves the screen and the selection back onto lines that exist, and fills
// the screen: the value or the screen may have changed its size.
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

// nearestLine is s, or the line nearest to it that there is, as far as is loaded.
func (p *pager) nearestLine(s spot) spot {
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

// endless reports whether the end of the chain is not known yet.
func (p *pager) endless() bool { return p.count < 0 }

// furthest is the last chunk that can be asked for.
func (p *pager) furthest() int {
	if p.endless() {
		return len(p.starts) - 1
	}
	return p.count - 1
}

// advance goes n lines down from s, as far as is loaded, and says how many it
// went.
func (p *pager) advance(s spot, n int) (spot, int) {
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

func (p *pager) next(s spot) (spot, bool) {
	for c := p.chunks[s.chunk]; c != nil; c = p.chunks[s.chunk] {
		if s.line+1 < c.len() {
			return spot{s.chunk, s.line + 1}, true
		}
		s = spot{s.chunk + 1, -1}
	}
	return s, false
}

// retreat goes n lines up from s, as far as is loaded.
func (p *pager) retreat(s spot, n int) (spot, int) {
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

func (p *pager) prev(s spot) (spot, bool) {
	if s.line > 0 {
		return spot{s.chunk, s.line - 1}, true
	}
	for i := s.chunk - 1; p.chunks[i] != nil; i-- {
		if n := p.chunks[i].len(); n > 0 {
			return spot{i, n - 1}, true
		}
	}
	return s, false
}

// move goes n lines down, or up when n is negative: as far as they are loaded, and the
// rest of the way when they come.
func (p *pager) move(n int) {
	p.destination = noDestination
	n += p.pendingMove
	p.pendingMove = 0
	from, went := p.cursor, 0
	switch {
	case n > 0 && p.selectable:
		p.cursor, went = p.advance(p.cursor, n)
		from = p.cursor
	case n > 0: // the last line stays the last one on the screen at most
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

// hasUnloadedAfter reports whether lines after s are still to be loaded.
func (p *pager) hasUnloadedAfter(s spot) bool {
	next, ok := p.next(s)
	return !ok && p.chunks[next.chunk] == nil && next.chunk <= p.furthest()
}

// hasUnloadedBefore reports whether lines before the cursor are still to be loaded.
func (p *pager) hasUnloadedBefore() bool {
	i := p.cursor.chunk
	for i >= 0 && p.chunks[i] != nil {
		i--
	}
	return i >= 0
}

// reveal moves the screen so that the selected line is on it.
func (p *pager) reveal() {
	if p.cursor.before(p.top) {
		p.top = p.cursor
		return
	}
	if first, _ := p.retreat(p.cursor, p.height-1); p.top.before(first) {
		p.top = first
	}
}

// adoptChunks goes on with the chunks that a search has cut a chain into.
func (p *pager) adoptChunks(t *trail) {
	p.starts, p.before, p.count = t.starts, t.before, t.count
	p.chunks = map[int]*chunk{}
}

// jump selects a line that a search found.
func (p *pager) jump(to spot) {
	p.destination, p.pendingMove = noDestination, 0
	p.cursor = to
	p.top, _ = p.retreat(to, p.height/3)
	if !p.selectable {
		p.cursor = p.top
	}
}

func (p *pager) home() {
	p.destination, p.pendingMove = noDestination, 0
	p.top, p.cursor = spot{}, spot{}
}

// seekDestination goes where the chase leads, as far as is loaded, and ends it when a full
// screen of lines is there.
func (p *pager) seekDestination() {
	goal := p.destinationChunk()
	if goal < 0 {
		return
	}
	p.cursor = spot{goal, 0}
	if c := p.chunks[goal]; c != nil {
		p.cursor = p.nearestLine(spot{goal, c.len() - 1})
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

// destinationChunk is the chunk whose last line is chased, -1 when none is.
func (p *pager) destinationChunk() int {
	if p.destination == noDestination {
		return -1
	}
	return p.furthest()
}

// missing is a chunk that the screen, or the next key press, needs. While the
// end is chased it is first the one that leads there.
func (p *pager) missing() (int, bool) {
	for _, c := range []int{p.destinationChunk(), p.top.chunk, p.missingBelow(), p.top.chunk - 1} {
		if c >= 0 && c <= p.furthest() && p.needs(c) {
			return c, true
		}
	}
	return 0, false
}

// needs reports whether chunk i is to be fetched.
func (p *pager) needs(i int) bool { return p.chunks[i] == nil || p.chunks[i].stale }

// missingBelow is the first chunk that is to be fetched within a screen below the screen; of
// what is heavy, on the screen.
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

// lineCount is how many lines a chain has that was read to its end in order.
func (p *pager) lineCount() (int64, bool) {
	last := len(p.before) - 1
	return p.before[last], p.chain && p.count == last
}

// lineNumber is the number of the line at s, from 1, where that can be told.
func (p *pager) lineNumber(s spot) (int64, bool) {
	if s.chunk >= len(p.before) {
		return 0, false
	}
	return p.before[s.chunk] + int64(s.line) + 1, true
}

// waiting reports whether the person has to wait for the line they went to. The end of a
// chain may be far: who moves on the way there stays there.
func (p *pager) waiting() bool {
	return p.pendingMove != 0 || p.destination == lastLine && !p.endless()
}
