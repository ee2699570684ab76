package server

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/redis/resp"
)

// Listener sends a command that opens a stream, such as SUBSCRIBE, and calls each with the
// messages until ctx ends. It calls notice if messages are missing, and why.
type Listener func(ctx context.Context, call [][]byte, notice func(error), each func(resp.Value) error) error

// Pane is the pane that shows the activity of the target.
type Pane struct {
	*ui.PaneContext
	Listen Listener // nil: the target has no streams
	sheet  *sheet   // nil if closed
}

// Messages of this pane. Kill asks to close a client; Behind is the dialog to return to.
// Unlock asks to unlock writing.
type (
	Kill struct {
		ID, Name string
		Parent   ui.Dialog
	}
	Unlock struct{}
)

// Show opens the activity, or the first view that has rows.
func (r *Pane) Show() tea.Cmd {
	r.Close()
	r.sheet = &sheet{r: r, views: views(), seeking: true}
	r.Dialog = r.sheet
	return r.refresh()
}

// Close ends the stream and closes the sheet.
func (r *Pane) Close() {
	if r.sheet != nil {
		r.sheet.feed.close()
	}
	r.sheet = nil
}

// A view is queried once per refreshPeriod. While a stream is open, the screen is redrawn
// once per livePeriod.
const (
	refreshPeriod = 2 * time.Second
	livePeriod    = 200 * time.Millisecond
)

// repliesMsg carries the replies to a view's commands.
type repliesMsg struct {
	view   *view
	values []resp.Value
	rows   [][]string // of the activity of a file, instead of values
	err    error
}

// refreshMsg carries a timer's request to refresh; only the latest one counts.
type refreshMsg struct {
	sheet     *sheet
	refreshID int
}

// Update handles the results of this pane's jobs and timers, and ignores other messages.
func (r *Pane) Update(msg tea.Msg) tea.Cmd {
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

// refresh queries the open view, unless it shows a stream.
func (r *Pane) refresh() tea.Cmd {
	s := r.sheet
	v := s.view()
	if v.calls == nil || s.feed != nil {
		return r.refreshAfter(livePeriod)
	}
	conn, db := r.Conn, r.DB
	if index := r.Index; index != nil && s.shown == activityView {
		return r.Start(job.QueryingServer, func(ctx context.Context) (tea.Msg, error) {
			rows, err := readFile(ctx, index, conn, db)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return repliesMsg{view: v, rows: rows, err: err}, nil
		})
	}
	return r.Start(job.QueryingServer, func(ctx context.Context) (tea.Msg, error) {
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
		return repliesMsg{view: v, values: values, err: err}, nil
	})
}

// refreshAfter schedules a refresh after d.
func (r *Pane) refreshAfter(d time.Duration) tea.Cmd {
	r.sheet.refreshID++
	return r.After(d, refreshMsg{r.sheet, r.sheet.refreshID})
}

// onRefresh refreshes the open view. It skips a sheet covered by a dialog.
func (r *Pane) onRefresh() tea.Cmd {
	switch {
	case r.Dialog == nil:
		r.Close()
		return nil
	case r.Dialog != r.sheet:
		return r.refreshAfter(refreshPeriod)
	}
	return r.refresh()
}

func (r *Pane) onReplies(m repliesMsg) tea.Cmd {
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
	if m.rows != nil {
		m.view.rows = m.rows
	} else {
		m.view.setReplies(m.values, r.Now)
	}
	if i := slices.Index(m.view.ids, selected); i >= 0 {
		r.sheet.at = i
	}
	if r.sheet.seeking && r.sheet.seek() {
		return r.refresh()
	}
	return r.refreshAfter(refreshPeriod)
}

// listen opens a stream and shows it in the view.
func (r *Pane) listen(title string, words ...string) tea.Cmd {
	s := r.sheet
	s.feed.close()
	if r.Listen == nil {
		r.Notice = "This target has no channels."
		return nil
	}
	s.feed = newFeed(title, words[0])
	s.at, s.top = 0, 0
	return tea.Batch(s.feed.run(r.Listen, client.Command(words...)), r.refreshAfter(livePeriod))
}

// askPattern asks which channels to subscribe to.
func (r *Pane) askPattern() tea.Cmd {
	s := r.sheet
	r.Dialog = &ui.Question{Title: "Listen to channels", Note: "a pattern: * is all channels, news:* begins with news:", Prompt: screen.NewPrompt("*"), Answer: func(pattern string) tea.Cmd {
		r.Dialog = s
		if pattern == "" {
			return nil
		}
		return r.listen("messages of "+pattern, "PSUBSCRIBE", pattern)
	}}
	return nil
}
