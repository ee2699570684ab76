package server

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/room"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/target"
	"github.com/meowdis/meowdis/resp"
)

// Listener carries out a command that begins to listen, and hands on what comes until ctx
// ends. Notice is told what does not come, and why.
type Listener func(ctx context.Context, call [][]byte, notice func(error), each func(resp.Value) error) error

// Room shows what the target does.
type Room struct {
	*room.Base
	Listen Listener // nil: nobody listens here
	sheet  *sheet   // nil while none is on the screen
}

// What the room tells: that a client is to be closed, and that writing is to be unlocked,
// both with the dialog that is there again then.
type (
	Kill struct {
		ID, Name string
		Behind   room.Dialog
	}
	Unlock struct{}
)

// Show shows the clients or, if there are none to show, the first view that has something.
func (r *Room) Show() tea.Cmd {
	r.Close()
	r.sheet = &sheet{r: r, views: views(), seeks: true}
	r.Dialog = r.sheet
	return r.look()
}

// Close ends what listens.
func (r *Room) Close() {
	if r.sheet != nil {
		r.sheet.feed.end()
	}
	r.sheet = nil
}

// period is after how long a view is asked for again, and livePeriod how often the screen
// shows what has come meanwhile.
const (
	period     = 2 * time.Second
	livePeriod = 200 * time.Millisecond
)

// lookedMsg is the replies that a view asked for.
type lookedMsg struct {
	of     *view
	values []resp.Value
	err    error
}

// againMsg comes when it is time to ask again; only the latest counts.
type againMsg struct {
	sheet *sheet
	turn  int
}

// Update takes in what a job or a timer brought; it leaves what is of other rooms.
func (r *Room) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case lookedMsg:
		return r.onLooked(m)
	case againMsg:
		if m.sheet == r.sheet && m.sheet != nil && m.turn == m.sheet.turn {
			return r.again()
		}
	}
	return nil
}

// look asks for the view that is on the screen, unless it lives by itself.
func (r *Room) look() tea.Cmd {
	s := r.sheet
	v := s.view()
	if v.calls == nil || s.feed != nil {
		return r.later(livePeriod)
	}
	conn, db := r.Conn, r.DB
	return r.Start(job.Serving, func(ctx context.Context) (tea.Msg, error) {
		values, err := conn.Do(ctx, db, v.calls...)
		if err == nil && v.more != nil {
			if calls := v.more(values); calls != nil {
				var rest []resp.Value
				rest, err = conn.Do(ctx, db, calls...)
				values = append(values, rest...)
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return lookedMsg{v, values, err}, nil
	})
}

// later asks again after d.
func (r *Room) later(d time.Duration) tea.Cmd {
	r.sheet.turn++
	return r.After(d, againMsg{r.sheet, r.sheet.turn})
}

// again asks for what is on the screen. What a dialog covers is not asked for, and a sheet
// that was left for good is forgotten.
func (r *Room) again() tea.Cmd {
	switch {
	case r.Dialog == nil:
		r.Close()
		return nil
	case r.Dialog != r.sheet:
		return r.later(period)
	}
	return r.look()
}

func (r *Room) onLooked(m lookedMsg) tea.Cmd {
	if r.sheet == nil {
		return nil
	}
	m.of.err, m.of.known = m.err, true
	if m.err != nil {
		r.sheet.seeks = false
		return r.later(period)
	}
	selected := ""
	if m.of == r.sheet.view() && r.sheet.at < len(m.of.ids) {
		selected = m.of.ids[r.sheet.at]
	}
	m.of.take(m.values, r.Now)
	if i := slices.Index(m.of.ids, selected); i >= 0 {
		r.sheet.at = i
	}
	if r.sheet.seeks && r.sheet.seek() {
		return r.look()
	}
	return r.later(period)
}

// listen begins to listen, in the view that shows what comes.
func (r *Room) listen(title string, words ...string) tea.Cmd {
	s := r.sheet
	s.feed.end()
	if r.Listen == nil {
		r.Notice = "This target has nothing to listen to."
		return nil
	}
	s.feed = newFeed(title, words[0])
	s.at, s.top = 0, 0
	return tea.Batch(s.feed.run(r.Listen, target.Command(words...)), r.later(livePeriod))
}

// askPattern asks for the channels to listen to.
func (r *Room) askPattern() tea.Cmd {
	s := r.sheet
	r.Dialog = &room.Question{Title: "Listen to channels", Note: "a pattern: * is all, news:* those that begin so", Prompt: screen.NewPrompt("*"), Answer: func(pattern string) tea.Cmd {
		r.Dialog = s
		if pattern == "" {
			return nil
		}
		return r.listen("messages of "+pattern, "PSUBSCRIBE", pattern)
	}}
	return nil
}
