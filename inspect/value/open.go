package value

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/target"
)

// Open shows the value of key.
func (v *Room) Open(key string) tea.Cmd {
	v.want(key)
	v.cancelJobs()
	conn, clock, db, from := v.Conn, v.Clock, v.DB, firstLink
	if v.Shows(key) && len(v.sheets) > 0 {
		from = v.sheets[0].begins()
	}
	return v.Start(job.Opening, func(ctx context.Context) (tea.Msg, error) {
		return openValue(ctx, conn, db, key, from, clock())
	})
}

// pagedMsg is chunk i of a sheet.
type pagedMsg struct {
	sheet *sheet
	i     int
	from  link
	chunk *chunk
}

func (v *Room) fetch(s *sheet, i int, from link) tea.Cmd {
	conn, db, key, src, seen := v.Conn, v.DB, v.Key, s.src, s.firsts
	return v.Start(job.Paging, func(ctx context.Context) (tea.Msg, error) {
		c, err := fetchChunk(ctx, conn, db, src, seen, key, i, from)
		return pagedMsg{s, i, from, c}, err
	})
}

func (v *Room) onPaged(p pagedMsg) {
	if p.sheet.numbered() && p.from.n != int(p.sheet.per) {
		return // meanwhile the chunks have other numbers
	}
	p.sheet.add(p.i, p.chunk)
}

// decodedMsg is a value that was fetched as a whole, laid out.
type decodedMsg struct {
	sheet *sheet
	doc   *document
}

// decode fetches a string that is longer than a window, but not too long to be
// decoded.
func (v *Room) decode(s *sheet) tea.Cmd {
	s.tried = true
	conn, db, key := v.Conn, v.DB, v.Key
	return v.Start(job.Decoding, func(ctx context.Context) (tea.Msg, error) {
		data, err := conn.One(ctx, db, target.Command("GETRANGE", key, "0", "-1"))
		if err != nil {
			return nil, err
		}
		return decodedMsg{s, newDocument(string(data.Str))}, nil
	})
}

// OpenByName shows a key that the person names: the only way in where the target
// does not let its keys be scanned.
func (v *Room) OpenByName() tea.Cmd {
	v.Dialog = &room.Question{Title: "Open a key", Note: `its whole name; "in quotes" with escapes`, Prompt: screen.NewPrompt(""), Answer: func(name string) tea.Cmd {
		if strings.HasPrefix(name, `"`) {
			if raw, err := screen.Unquote(name); err == nil {
				name = raw
			}
		}
		v.InValue = true
		return v.Open(name)
	}}
	return nil
}
