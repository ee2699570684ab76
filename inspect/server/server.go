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
	r.sheet = &sheet{r: r, views: views(), seeking: true}
	r.Dialog = r.sheet
	return r.refresh()
}

// Close ends what listens.
func (r *Room) Close() {
	if r.sheet != nil {
		r.sheet.feed.close()
	}
	r.sheet = nil
}

// period is after how long a view is asked for again, and livePeriod how often the screen
// shows what has come meanwhile.
const (
	refreshPeriod = 2 * time.Second
	livePeriod    = 200 * time.Millisecond
)

// repliesMsg is the replies that a view asked for.
type repliesMsg struct {
	view   *view
	values []resp.Value
	err    error
}

// refreshMsg comes when it is time to ask again; only the latest counts.
type refreshMsg struct {
	sheet     *sheet
	refreshID int
}

// Update takes in what a job or a timer brought; it leaves what is of other rooms.
func (r *Room) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case repliesMsg:
		return r.onReplies(m)
	case refreshMsg:
		if m.sheet == r.sheet && m.sheet != nil && m.refreshID == m.sheet.refreshID {
			return r.onRefresh()
		}
	}
	return nil
}

// refresh asks for the view that is on the screen, unless it lives by itself.
func (r *Room) refresh() tea.Cmd {
	s := r.sheet
	v := s.view()
	if v.calls == nil || s.feed != nil {
		return r.refreshAfter(livePeriod)
	}
	conn, db := r.Conn, r.DB
	return r.Start(job.Serving, func(ctx context.Context) (tea.Msg, error) {
		values, err := conn.Do(ctx, db, v.calls...)
		if err == nil && v.followUp != nil {
			if calls := v.followUp(values); calls != nil {
				var rest []resp.Value
				rest, err = conn.Do(ctx, db, calls...)
				values = append(values, rest...)
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return repliesMsg{v, values, err}, nil
	})
}

// refreshAfter asks again after d.
func (r *Room) refreshAfter(d time.Duration) tea.Cmd {
	r.sheet.refreshID++
	return r.After(d, refreshMsg{r.sheet, r.sheet.refreshID})
}

// onRefresh asks for what is on the screen. What a dialog covers is not asked for, and a sheet
// that was left for good is forgotten.
func (r *Room) onRefresh() tea.Cmd {
	switch {
	case r.Dialog == nil:
		r.Close()
		return nil
	case r.Dialog != r.sheet:
		return r.refreshAfter(refreshPeriod)
	}
	return r.refresh()
}

func (r *Room) onReplies(m repliesMsg) tea.Cmd {
	if r.sheet == nil {
		return nil
	}
	m.view.err, m.view.loaded = m.err, true
	if m.err != nil {
		r.sheet.seeking = false
		return r.refreshAfter(refreshPeriod)
	}
	selected := ""
	if m.view == r.sheet.view() && r.sheet.at < len(m.view.ids) {
		selected = m.view.ids[r.sheet.at]
	}
	m.view.setReplies(m.values, r.Now)
	if i := slices.Index(m.view.ids, selected); i >= 0 {
		r.sheet.at = i
	}
	if r.sheet.seeking && r.sheet.seek() {
		return r.refresh()
	}
	return r.refreshAfter(refreshPeriod)
}

// listen begins to listen, in the view that shows what comes.
func (r *Room) listen(title string, words ...string) tea.Cmd {
	s := r.sheet
	s.feed.close()
	if r.Listen == nil {
		r.Notice = "This target has nothing to listen to."
		return nil
	}
	s.feed = newFeed(title, words[0])
	s.at, s.top = 0, 0
	return tea.Batch(s.feed.run(r.Listen, target.Command(words...)), r.refreshAfter(livePeriod))
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
