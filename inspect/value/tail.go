package value

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
)

// Tail moves to the last entry of a stream and shows new entries as they arrive, until the user moves.
func (v *Pane) Tail() tea.Cmd {
	s := v.sheet()
	switch {
	case s == nil || s.src != entriesOf:
		v.Notice = "Only the entries of a stream can be followed."
		return nil
	case s.filter != nil:
		v.removeFilter()
		s = v.sheet()
	}
	switch {
	case s.live:
		s.live = false
		return nil
	case v.hasFarEnd():
		return v.findTail(s, true)
	}
	v.End()
	s.live = true
	return nil
}

// GoEnd moves to the last line. The end of a long stream opens on its own sheet.
func (v *Pane) GoEnd() tea.Cmd {
	if v.hasFarEnd() {
		return v.findTail(v.sheet(), false)
	}
	v.End()
	return nil
}

// hasFarEnd reports whether a stream is shown whose end is cheaper to read from its last entry.
func (v *Pane) hasFarEnd() bool {
	s := v.sheet()
	return s != nil && s.src == entriesOf && s.filter == nil && v.size > minTailSheet && len(v.sheets) == 1
}

// Tail opens the end of a stream with more than minTailSheet entries on its own sheet: reading to the end
// from the first entry would take long.
const minTailSheet = 1000

// tailFoundMsg carries the last entries of a stream, and the request that returns them.
type tailFoundMsg struct {
	sheet *sheet
	from  chunkRequest
	last  *chunk
	live  bool // show new entries as they arrive
}

func (v *Pane) findTail(s *sheet, live bool) tea.Cmd {
	conn, db, key := v.Conn, v.DB, v.Key
	return v.Start(job.Searching, func(ctx context.Context) (tea.Msg, error) {
		reply, err := conn.One(ctx, db, client.Command("XREVRANGE", key, "+", "-", "COUNT", client.Decimal(perChunk+1)))
		if err != nil {
			return nil, err
		}
		from := chunkRequest{firstRequest.cursor, perChunk}
		if n := len(reply.Elems); n > perChunk && len(reply.Elems[n-1].Elems) == 2 {
			from.cursor = client.Text(reply.Elems[n-1].Elems[0])
			reply.Elems = reply.Elems[:perChunk]
		}
		slices.Reverse(reply.Elems)
		return tailFoundMsg{s, from, s.src.read(0, from, reply), live}, nil
	})
}

func (v *Pane) onTailFound(m tailFoundMsg) {
	if v.sheet() != m.sheet {
		return
	}
	tail := newSheet(m.sheet.title+" ▸ the last", entriesOf, -1)
	tail.pager.starts[0] = m.from
	v.sheets = append(v.sheets, tail)
	v.arrange()
	m.last.next = "" // the end
	tail.add(0, m.last)
	v.End()
	tail.live = m.live
}

// ShowsEntries reports whether the entries of a stream are shown.
func (v *Pane) ShowsEntries() bool { return v.sheet() != nil && v.sheet().src == entriesOf }

// refreshTail fetches the entries after the last one, once a second.
func (v *Pane) refreshTail() {
	s := v.sheet()
	if s == nil || !s.live || v.Running(job.Paging) || v.Running(job.Opening) || v.gone() {
		return
	}
	if all, known := s.pager.lineCount(); known && len(v.sheets) == 1 {
		v.size, s.size = max(all, v.size), max(all, s.size)
	}
	if c := s.pager.chunks[s.pager.furthest()]; c != nil {
		c.stale = true
	}
	s.pager.destination = lastLine
}

// markStale marks the chunks of s to be fetched again.
func (s *sheet) markStale() {
	for _, c := range s.pager.chunks {
		c.stale = true
	}
}

// markExpired marks the chunks with an element that expired before now as stale, at most once a second:
// a server's clock may be behind.
func (v *viewState) markExpired(now int64) {
	s := v.sheet()
	if s == nil || now < v.expiryCheckedAt+time.Second.Milliseconds() {
		return
	}
	v.expiryCheckedAt = now
	for _, c := range s.pager.chunks {
		c.stale = c.stale || c.expiresAt != 0 && c.expiresAt <= now
	}
}
