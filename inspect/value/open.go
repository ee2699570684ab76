package value

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/store/keytype"
)

// Open fetches and shows the value of key. A large document that is not on the screen yet is fetched twice: its
// beginning, and then the whole document.
func (v *Pane) Open(key string) tea.Cmd {
	v.setWanted(key)
	v.cancelJobs()
	v.opening = key
	conn, clock, db, from := v.Conn, v.Clock, v.DB, firstRequest
	var element *opened
	if v.Shows(key) && len(v.sheets) > 0 {
		from, element = v.sheets[0].startRequest(), v.opened()
	}
	kind, size := v.Kind, v.size
	var documents documentReader
	if v.Index != nil && !v.Shows(key) {
		documents = v.Index
	}
	return v.Start(job.Opening, func(ctx context.Context) (tea.Msg, error) {
		o, err := openValue(ctx, conn, documents, db, key, from, clock())
		if err == nil && element != nil && o.kind == kind {
			o.opened, err = element.reload(ctx, conn, db, kind, key)
			if kind == keytype.List && o.size != size && o.opened != nil && o.opened.body != element.body {
				o.opened.missing = true // another element has its index now
			}
		}
		return o, err
	})
}

// pagedMsg is chunk i of a sheet.
type pagedMsg struct {
	sheet *sheet
	i     int
	from  chunkRequest
	chunk *chunk
}

func (v *Pane) fetch(s *sheet, i int, from chunkRequest) tea.Cmd {
	conn, db, key, src, seen := v.Conn, v.DB, v.Key, s.src, s.firsts
	return v.Start(job.Paging, func(ctx context.Context) (tea.Msg, error) {
		c, err := fetchChunk(ctx, conn, db, src, seen, key, i, from)
		return pagedMsg{s, i, from, c}, err
	})
}

func (v *Pane) onPaged(p pagedMsg) {
	if p.sheet.numbered() && p.from.n != int(p.sheet.per) {
		return // the elements per chunk changed during the fetch
	}
	p.sheet.add(p.i, p.chunk)
}

// decodedMsg carries the decoded form of a value that was fetched whole.
type decodedMsg struct {
	sheet *sheet
	doc   *document
}

// decode fetches and decodes a string longer than a window, up to decodeLimit.
func (v *Pane) decode(s *sheet) tea.Cmd {
	s.decodeTried = true
	conn, db, key := v.Conn, v.DB, v.Key
	return v.Start(job.Decoding, func(ctx context.Context) (tea.Msg, error) {
		data, err := conn.One(ctx, db, client.Command("GETRANGE", key, "0", "-1"))
		if err != nil {
			return nil, err
		}
		return decodedMsg{s, newDocument(string(data.Str))}, nil
	})
}
