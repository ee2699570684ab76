package value

import (
	"context"
	"maps"
	"slices"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// searchedMsg carries the result of a search in a value.
type searchedMsg struct {
	sheet  *sheet
	found  bool
	at     position     // the row, in a table
	offset int64        // the first byte, in bytes
	length int          // the number of bytes matched
	chunk  *chunk       // the chunk at the position
	trail  *chunkCursor // the cursor that reached it, in a table
}

// EditSearch asks the user what to search for in the value.
func (v *Pane) EditSearch() tea.Cmd {
	s := v.sheet()
	if s == nil {
		return nil
	}
	note := `ignores case unless you type capitals; "\x00" in quotes`
	if s.form == asHex {
		note = `text; hex as de ad or 0xdead; "\x00" in quotes`
	}
	v.Dialog = &ui.Question{Title: "Search in the value", Note: note, Prompt: screen.NewPrompt(""), Answer: func(needle string) tea.Cmd {
		if s := v.sheet(); s != nil && needle != "" {
			s.needle = needleOf(needle, s.form)
			return v.seek(false)
		}
		return nil
	}}
	return nil
}

// SearchNext moves to the next match of the last search, and SeekBack to the previous one.
func (v *Pane) SearchNext() tea.Cmd     { return v.seek(false) }
func (v *Pane) SearchPrevious() tea.Cmd { return v.seek(true) }

// seek moves to the next or previous match of the last search. Chunks that are not in memory are
// fetched one by one and dropped.
func (v *Pane) seek(back bool) tea.Cmd {
	s := v.sheet()
	if s == nil || s.needle == "" {
		return nil
	}
	switch {
	case s.inDocument():
		if !s.doc.find(s.needle, back) {
			v.notFound(s)
		}
		return nil
	case s.filter != nil:
		step := 1
		if back {
			step = -1
		}
		at, found := s.filter.seek(s.pager.cursor, s.needle, step)
		if !found {
			v.notFound(s)
			return nil
		}
		s.pager.jump(at)
		v.fillWhole()
		return nil
	case s.isTable():
		return v.seekRow(s, back)
	}
	return v.seekByte(s, back)
}

func (v *Pane) notFound(s *sheet) {
	v.Notice = "No other " + display.Text(s.needle, 40) + " from here."
}

// chunkCursor walks through the chunks of a table. It reads larger chunks of a chain than scrolling
// does, so it keeps its own chunk boundaries. After a match the pager adopts them.
type chunkCursor struct {
	src    *source
	key    string
	db     int
	per    int64          // elements per chunk, if chunks have numbers
	step   int            // 1 or -1
	at     position       // where it began
	count  int            // the number of chunks; -1 while unknown
	starts []chunkRequest // in a chain: the known requests
	before []int64        // in a chain: the number of lines before each known chunk
	firsts *client.SeenNames
	loaded map[int]*chunk // the chunks that were in memory at the start
	batch  int            // chunks per round trip
}

// seekRow searches the cells of a table in a job.
func (v *Pane) seekRow(s *sheet, back bool) tea.Cmd {
	t := &chunkCursor{
		src: s.src, key: v.Key, db: v.DB, per: s.per, step: 1, at: s.pager.cursor, count: s.pager.count,
		starts: slices.Clone(s.pager.starts), before: slices.Clone(s.pager.before), firsts: s.firsts.Clone(),
		loaded: maps.Clone(s.pager.chunks), batch: 1,
	}
	if back {
		t.step = -1
	}
	conn, needle, src, size := v.Conn, s.needle, s.src, s.size
	return v.Start(job.Searching, func(ctx context.Context) (tea.Msg, error) {
		r := searchedMsg{sheet: s, trail: t}
		var err error
		r.at, r.chunk, r.found, err = t.find(ctx, conn, needle, func(looked int64) { job.CostOf(ctx).Progress(looked, size) })
		if err == nil && r.found {
			err = fetchDetails(ctx, conn, t.db, src, t.key, r.chunk)
		}
		return r, err
	})
}

// find returns the next row that contains needle, and its chunk. It calls passed with the number of
// rows searched so far.
func (t *chunkCursor) find(ctx context.Context, conn *client.Conn, needle string, passed func(rows int64)) (at position, c *chunk, found bool, err error) {
	looked := int64(0)
	for i := t.at.chunk; t.hasChunk(i); i += t.step {
		if c, err = t.chunk(ctx, conn, i); err != nil {
			return at, nil, false, err
		}
		if line, ok := c.seek(t.src, needle, t.at, i, t.step); ok {
			return position{i, line}, c, true, nil
		}
		delete(t.loaded, i)
		looked += int64(c.len())
		passed(looked)
	}
	return at, nil, false, nil
}

// hasChunk reports whether chunk i exists.
func (t *chunkCursor) hasChunk(i int) bool {
	if t.count < 0 {
		return i >= 0 && i < len(t.starts)
	}
	return i >= 0 && i < t.count
}

// chunk returns chunk i. Numbered chunks are fetched in batches; chunks of a chain grow.
func (t *chunkCursor) chunk(ctx context.Context, conn *client.Conn, i int) (*chunk, error) {
	if c := t.loaded[i]; c != nil {
		t.addStart(i, c)
		return c, nil
	}
	src := t.src
	var calls [][][]byte
	from := chunkRequest{n: int(t.per)}
	if src.per == 0 && i < len(t.starts) {
		from = t.starts[i]
	}
	for j := i; len(calls) < t.batch && t.hasChunk(j); j += t.step {
		calls = append(calls, src.fetch(t.key, int64(j), from))
	}
	values, err := conn.Pages(ctx, t.db, calls...)
	if err != nil {
		return nil, err
	}
	size := 0
	for j, v := range values {
		if err := client.ReplyError(v); err != nil {
			return nil, err
		}
		at := i + j*t.step
		c := src.read(at, from, v)
		keepFirst(t.firsts, at, c)
		t.loaded[at] = c
		size += c.bytes()
	}
	switch {
	case src.per == 0:
	case size > targetChunkBytes:
		t.batch = max(t.batch/2, 1)
	default:
		t.batch = min(2*t.batch, maxChunkElements/perChunk)
	}
	t.addStart(i, t.loaded[i])
	return t.loaded[i], nil
}

// addStart records where the chunk after chunk i begins.
func (t *chunkCursor) addStart(i int, c *chunk) {
	if i+1 == len(t.before) {
		t.before = append(t.before, t.before[i]+int64(c.len()))
	}
	if t.count < 0 && i+1 == len(t.starts) && c.next != "" {
		t.starts = append(t.starts, c.nextRequest(t.starts[i].n, true))
	}
}

// seek returns the next row of chunk i of src that contains needle, after from, or before it if step is -1.
func (c *chunk) seek(src *source, needle string, from position, i, step int) (int, bool) {
	line := 0
	if step < 0 {
		line = len(c.rows) - 1
	}
	if i == from.chunk {
		line = from.line + step
	}
	for ; line >= 0 && line < len(c.rows); line += step {
		if src.rowContains(c.rows[line], needle) {
			return line, true
		}
	}
	return 0, false
}

// seekWindow limits the bytes of a string that are searched at a time.
const seekWindow = 1 << 20

// seekByte searches the bytes of a string or of an element in a job.
func (v *Pane) seekByte(s *sheet, back bool) tea.Cmd {
	db, key, needle := v.DB, v.Key, s.needle
	conn, src, from, size, whole := v.Conn, s.src, s.topByte(), s.size, s.whole
	read := func(ctx context.Context, low, high int64) (string, error) {
		if src == nil {
			return whole[low:high], nil
		}
		part, err := conn.One(ctx, db, client.Command("GETRANGE", key, client.Decimal(low), client.Decimal(high-1)))
		return string(part.Str), err
	}
	// A match may be longer than the needle: capitals can take more bytes.
	beyond := int64(2*len(needle) + utf8.UTFMax)
	return v.Start(job.Searching, func(ctx context.Context) (tea.Msg, error) {
		r := searchedMsg{sheet: s}
		low, high := from+1, from+1+seekWindow
		if back {
			low, high = from-seekWindow, from
		}
		for low < size && high > 0 {
			first := max(low, 0)
			data, err := read(ctx, first, min(high+beyond, size))
			if err != nil {
				return r, err
			}
			at, end := seekIn(data, needle, int(min(high, size)-first), back)
			if at >= 0 {
				r.found, r.offset, r.length = true, first+int64(at), end-at
				return r, nil
			}
			if back {
				low, high = low-seekWindow, low
				job.CostOf(ctx).Progress(from-high, from)
			} else {
				low, high = high, high+seekWindow
				job.CostOf(ctx).Progress(low-from, size-from)
			}
		}
		return r, nil
	})
}

// seekIn returns the first match in data that begins before limit, or the last one if back is set.
func seekIn(data, needle string, limit int, back bool) (at, end int) {
	if !back {
		if at, end = find(data, needle); at >= limit {
			return -1, -1
		}
		return at, end
	}
	for at, end = findLast(data, needle); at >= limit; {
		at, end = findLast(data[:end-1], needle)
	}
	return at, end
}

// topByte returns the offset of the last match, or of the byte before the first one on the screen.
func (s *sheet) topByte() int64 {
	at := s.pager.top
	if s.foundByte > 0 {
		return s.foundByte - 1
	}
	c := s.pager.chunks[at.chunk]
	if c == nil || at.line >= len(c.lines) {
		return -1
	}
	return int64(at.chunk)*windowSize + int64(c.lines[at.line].Start) - 1
}

// onSearched moves to a match.
func (v *Pane) onSearched(r searchedMsg) {
	s := r.sheet
	if !r.found {
		v.notFound(s)
		return
	}
	if s.isTable() {
		switch {
		case s.pager.chain:
			s.firsts = r.trail.firsts
			s.pager.adoptChunks(r.trail)
			s.pager.chunks[r.at.chunk] = r.chunk
		case r.trail.per == s.per:
			s.pager.chunks[r.at.chunk] = r.chunk
		default: // the elements per chunk changed during the search
			n := int64(r.at.chunk)*r.trail.per + int64(r.at.line)
			r.at = position{int(n / s.per), int(n % s.per)}
		}
		s.pager.jump(r.at)
		return
	}
	s.foundLen = r.length
	s.goTo(r.offset)
	v.fillWhole()
}

// goTo shows the line with the byte at offset, and fetches its window first if necessary.
func (s *sheet) goTo(offset int64) {
	i := int(offset / windowSize)
	s.pager.jump(position{i, 0})
	s.foundByte, s.jumping = offset+1, true
	if c := s.pager.chunks[i]; c != nil {
		s.settleSeek(i, c)
	}
}

// settleSeek moves to the line of the byte found, once its window is loaded.
func (s *sheet) settleSeek(i int, c *chunk) {
	offset := s.foundByte - 1
	if !s.jumping || int(offset/windowSize) != i {
		return
	}
	line := 0
	for line+1 < len(c.lines) && int64(c.lines[line+1].Start) <= offset%windowSize {
		line++
	}
	s.pager.jump(position{i, line})
	s.pager.top = position{i, line}
	s.pager.cursor = s.pager.top
	s.jumping = false
}
