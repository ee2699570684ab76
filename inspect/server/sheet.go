package server

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
)

// sheet shows one of the views, or a stream.
type sheet struct {
	r         *Pane
	views     []*view
	shown     int
	feed      *feed // nil without a stream
	at        int   // the selected row
	top       int
	height    int
	refreshID int  // the latest refreshMsg requested
	seeking   bool // skip empty views, until a key is pressed
}

func (s *sheet) view() *view { return s.views[s.shown] }

// showView shows view n, counted around the ends.
func (s *sheet) showView(n int) tea.Cmd {
	s.closeFeed()
	s.shown, s.at, s.top = (n+len(s.views))%len(s.views), 0, 0
	return s.r.refresh()
}

// seek skips the current view if it is empty, and reports whether the next one must be queried. After the last view
// it returns to the first and stops.
func (s *sheet) seek() bool {
	if len(s.view().rows) > 0 {
		if s.seeking = false; s.shown > clientsView {
			s.r.Notice = s.skipNote()
		}
		return false
	}
	for s.shown++; s.shown < len(s.views) && s.view().calls == nil; s.shown++ {
	}
	if s.shown == len(s.views) {
		s.shown, s.seeking = 0, false
	}
	return s.seeking
}

// skipNote says why the clients view was skipped; "" if it is just empty.
func (s *sheet) skipNote() string {
	if err := s.views[clientsView].err; err != nil {
		return "Clients are unavailable: " + display.Whole(err.Error())
	}
	return ""
}

func (s *sheet) closeFeed() {
	s.feed.close()
	s.feed = nil
}

// Press implements ui.Dialog.
func (s *sheet) Press(b *ui.PaneContext, k tea.KeyMsg) tea.Cmd {
	key := k.String()
	s.seeking = false
	switch key {
	case "down", "j":
		s.at++
	case "up", "k":
		s.at--
	case "pgdown", "ctrl+f", "ctrl+d":
		s.at += max(s.height-1, 1)
	case "pgup", "ctrl+b", "ctrl+u":
		s.at -= max(s.height-1, 1)
	case "home", "g":
		s.at = 0
	case "end", "G":
		s.at = len(s.rows()) - 1
	case "tab", "]", "right", "l":
		return s.showView(s.shown + 1)
	case "shift+tab", "[", "left", "h":
		return s.showView(s.shown - 1)
	case "1", "2", "3", "4", "5", "6":
		return s.showView(int(key[0] - '1'))
	case "esc", "q", "backspace":
		if s.feed != nil {
			s.closeFeed()
			s.at = 0
			return s.r.refresh()
		}
		b.Dialog = nil
		s.r.Close()
	default:
		return s.act(b, key)
	}
	s.at = max(min(s.at, len(s.rows())-1), 0)
	return nil
}

// act handles a key that depends on the view.
func (s *sheet) act(b *ui.PaneContext, key string) tea.Cmd {
	v := s.view()
	switch {
	case (key == "r" || key == "R") && s.feed == nil:
		return s.r.refresh()
	case key == "w":
		return b.Emit(Unlock{})
	case key == " " && s.feed != nil:
		s.feed.togglePause()
	case key == "enter" && (s.feed != nil || s.shown == slowView || s.shown == clientsView || s.shown == memoryView):
		s.open(b)
	case key == "enter" && s.shown == monitorView:
		return s.r.listen("commands as they run", "MONITOR")
	case key == "enter" && s.shown == channelsView && s.at < len(v.ids):
		return s.r.listen("messages of "+display.Text(v.ids[s.at], 40), "SUBSCRIBE", v.ids[s.at])
	case key == "p" && s.shown == channelsView:
		return s.r.askPattern()
	case (key == "d" || key == "delete") && s.shown == clientsView && s.at < len(v.ids):
		if strings.HasSuffix(v.rows[s.at][2], ownMark) {
			b.Notice = "This client is the inspector itself."
			return nil
		}
		return b.Emit(Kill{v.ids[s.at], strings.TrimSpace(v.rows[s.at][1] + " " + v.rows[s.at][7]), s})
	}
	return nil
}

// open shows a row in full.
func (s *sheet) open(b *ui.PaneContext) {
	rows := s.rows()
	if s.at >= len(rows) {
		return
	}
	var lines []string
	for i, cell := range rows[s.at] {
		if cell != "" {
			lines = append(lines, " "+b.Styles.Dim.Render(display.Fit(strings.ToLower(s.heads()[i]), 12))+display.Whole(cell))
		}
	}
	b.Dialog = &ui.Page{Title: s.view().name, Layout: ui.Wrapped(lines...), Parent: s}
}

func (s *sheet) heads() []string {
	if s.feed != nil && s.shown == channelsView {
		return []string{"CHANNEL", "MESSAGE"}
	}
	return s.view().heads
}

// rows returns the rows of the view or the stream.
func (s *sheet) rows() [][]string {
	if s.feed == nil {
		return s.view().rows
	}
	lines, _, _, _ := s.feed.snapshot()
	return lines
}

// Footer implements ui.Dialog.
func (s *sheet) Footer() [][2]string {
	hints, rows := [][2]string{}, len(s.rows()) > 0
	switch {
	case s.feed != nil && s.feed.isPaused():
		hints = append(hints, [2]string{"space", "continue"}, [2]string{"⏎", "open"})
	case s.feed != nil:
		hints = append(hints, [2]string{"space", "hold"}, [2]string{"⏎", "open"})
	case s.shown == clientsView && rows:
		hints = append(hints, [2]string{"d", "kill"}, [2]string{"⏎", "open"})
	case (s.shown == slowView || s.shown == memoryView) && rows:
		hints = append(hints, [2]string{"⏎", "open"})
	case s.shown == channelsView && rows:
		hints = append(hints, [2]string{"⏎", "listen"}, [2]string{"p", "pattern"})
	case s.shown == channelsView:
		hints = append(hints, [2]string{"p", "pattern"})
	case s.shown == monitorView:
		hints = append(hints, [2]string{"⏎", "begin"})
	}
	leave := "close"
	if s.feed != nil {
		leave = "back"
	}
	return append(hints, [2]string{"tab", "next view"}, [2]string{"esc", leave})
}

// TakesText implements ui.Dialog.
func (*sheet) TakesText() bool { return false }

// headLines counts the lines above the rows: views, note, column heads.
const headLines = 3

// View implements ui.Dialog.
func (s *sheet) View(b *ui.PaneContext, width, height int) []string {
	lines := []string{s.tabs(b, width), " " + b.Styles.Dim.Render(display.Truncate(s.note(), width-2))}
	rows := s.rows()
	s.height = max(height-headLines, 1)
	follows := s.feed != nil && !s.feed.isPaused()
	if follows {
		s.at = max(len(rows)-1, 0) // keep the latest line in view
	}
	s.at = max(min(s.at, len(rows)-1), 0)
	s.top = max(min(s.top, s.at), s.at-s.height+1, 0)
	s.top = max(min(s.top, len(rows)-s.height), 0)
	if len(rows) == 0 {
		lines = append(lines, "")
		for line := range strings.SplitSeq(ansi.Wordwrap(s.emptyNote(), max(width-2, 1), ""), "\n") {
			lines = append(lines, " "+line)
		}
	} else {
		on := rows[s.top:min(s.top+s.height, len(rows))]
		widths := s.widths(on, width-2)
		lines = append(lines, "  "+b.Styles.Dim.Render(display.Fit(s.line(s.heads(), widths), width-2)))
		for i, row := range on {
			selected := s.top+i == s.at && !follows
			look := b.Styles.Row(selected, true)
			lines = append(lines, look.Mark(selected)+look.Text.Render(display.Fit(s.line(row, widths), width-2)))
		}
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	lines[0] = screen.Pad(lines[0], width)
	return lines[:height]
}

// tabs renders the names of the views. Brackets mark the current one, so that it shows without colour, too.
func (s *sheet) tabs(b *ui.PaneContext, width int) string {
	var parts []string
	for i, v := range s.views {
		name := string(rune('1'+i)) + " " + v.name
		if i == s.shown {
			parts = append(parts, b.Styles.Title.Render("["+name+"]"))
		} else {
			parts = append(parts, b.Styles.Dim.Render(" "+name+" "))
		}
	}
	line := strings.Join(parts, "")
	if ansi.StringWidth(line) > width {
		line = b.Styles.Title.Render(" " + s.view().name)
	}
	return display.Truncate(line, width)
}

// note returns the text above the rows.
func (s *sheet) note() string {
	v := s.view()
	if s.feed == nil {
		return v.note
	}
	_, came, ended, err := s.feed.snapshot()
	note := s.feed.title + " · " + display.Grouped(came)
	if came > maxFeedLines {
		note += ", the last " + display.Grouped(maxFeedLines) + " are kept"
	}
	switch {
	case err != nil:
		note += " · " + display.Whole(err.Error())
	case ended:
		note += " · ended"
	case s.feed.isPaused():
		note += " · held"
	}
	return note
}

// emptyNote returns the text for a view without rows.
func (s *sheet) emptyNote() string {
	v := s.view()
	if s.feed != nil {
		if _, _, ended, err := s.feed.snapshot(); ended && err != nil {
			return "Not available: " + display.Whole(err.Error())
		}
		return "Waiting. Nothing has come yet."
	}
	switch {
	case v.err != nil && s.r.Index != nil:
		return "Not available: a file has no server. 4 and 5 show the messages and commands of all its processes."
	case v.err != nil:
		return "Not available: " + display.Whole(v.err.Error())
	case !v.loaded && v.calls != nil:
		return "…"
	case v.emptyText != "":
		return v.emptyText
	}
	return "Nothing to show."
}

// widths computes the column widths: each column as wide as its cells, the last one as wide as fits.
func (s *sheet) widths(rows [][]string, width int) []int {
	heads := s.heads()
	widths := make([]int, len(heads))
	for i, head := range heads {
		widths[i] = ansi.StringWidth(head)
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(shownCell(row[i], width)))
		}
		widths[i] = min(widths[i], max(width*2/3, 8))
	}
	return widths
}

// shownCell returns a cell in at most width cells of the screen.
func shownCell(cell string, width int) string {
	if cell == "" {
		return ""
	}
	return display.Text(cell, width)
}

// line returns cells aligned in columns.
func (s *sheet) line(cells []string, widths []int) string {
	right := s.view().right
	if s.feed != nil && s.shown == channelsView {
		right = nil
	}
	var b strings.Builder
	for i, cell := range cells {
		text := shownCell(cell, widths[i])
		switch {
		case i < len(right) && right[i]:
			text = display.FitRight(text, widths[i])
		case i < len(cells)-1:
			text = display.Fit(text, widths[i])
		}
		b.WriteString(text + "  ")
	}
	return strings.TrimRight(b.String(), " ")
}
