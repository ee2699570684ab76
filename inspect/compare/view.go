package compare

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/store/keytype"
)

// sheet shows a comparison: side by side if the screen is wide enough, else one side below
// the other.
type sheet struct {
	comparison
	title           string
	parent          ui.Dialog // shown again when the sheet closes
	onlyDifferences bool      // equal rows are left out
	lines           []line
	stacked         bool // one side below the other
	at, top         int  // the selected line, and the first visible one
	height          int  // lines for the rows
	first           bool // the first difference has been selected
}

// line describes a line of the screen: a row, one side of a row, or a count of hidden rows.
type line struct {
	row  int
	side mark // leftOnly or rightOnly for one side of a changed row
	gap  int
}

const (
	minSplitWidth = 60 // narrowest screen, in cells, for two sides next to each other
	contextRows   = 2  // rows shown around a difference
	headerLines   = 3  // lines above the rows
)

func newSheet(title string, c comparison, behind ui.Dialog) *sheet {
	return &sheet{comparison: c, title: title, parent: behind}
}

// layout computes the lines to show, and keeps the selected row.
func (s *sheet) layout() {
	kept := 0
	if s.at < len(s.lines) {
		kept = s.lines[s.at].row
	}
	s.lines = s.lines[:0]
	near := s.nearDifferences()
	for i := 0; i < len(s.rows); i++ {
		gap := 0
		for s.onlyDifferences && i < len(s.rows) && !near[i] {
			i, gap = i+1, gap+1
		}
		if gap > 0 {
			s.lines = append(s.lines, line{row: i - gap, gap: gap})
		}
		if i >= len(s.rows) {
			break
		}
		if s.stacked && s.rows[i].mark == changed {
			s.lines = append(s.lines, line{row: i, side: leftOnly}, line{row: i, side: rightOnly})
			continue
		}
		s.lines = append(s.lines, line{row: i, side: s.rows[i].mark})
	}
	s.at = 0
	for i, l := range s.lines {
		if l.row > kept {
			break
		}
		if i == 0 || l.row != s.lines[i-1].row {
			s.at = i
		}
	}
}

// nearDifferences reports for each row whether it is a difference or close to one.
func (s *sheet) nearDifferences() []bool {
	near := make([]bool, len(s.rows))
	for i, r := range s.rows {
		if r.mark != same {
			for j := max(i-contextRows, 0); j <= min(i+contextRows, len(s.rows)-1); j++ {
				near[j] = true
			}
		}
	}
	return near
}

// Press implements ui.Dialog.
func (s *sheet) Press(b *ui.PaneContext, k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "down", "j":
		s.move(1)
	case "up", "k":
		s.move(-1)
	case "pgdown", " ", "ctrl+f", "ctrl+d":
		s.move(max(s.height-1, 1))
	case "pgup", "ctrl+b", "ctrl+u":
		s.move(-max(s.height-1, 1))
	case "home", "g":
		s.move(-len(s.lines))
	case "end", "G":
		s.move(len(s.lines))
	case "n", "tab":
		s.seek(1)
	case "N", "shift+tab":
		s.seek(-1)
	case "d":
		s.onlyDifferences = !s.onlyDifferences
		s.layout()
	case "enter", "right", "l":
		s.open(b)
	case "esc", "q", "left", "h", "backspace", "=":
		b.Dialog = s.parent
	}
	return nil
}

func (s *sheet) move(n int) { s.at = max(min(s.at+n, len(s.lines)-1), 0) }

// seek selects the next difference in the direction of step.
func (s *sheet) seek(step int) {
	for i := s.at + step; i >= 0 && i < len(s.lines); i += step {
		if l := s.lines[i]; l.gap == 0 && s.rows[l.row].mark != same && l.row != s.lines[s.at].row {
			s.at = i
			return
		}
	}
}

// open compares the two values of a row, or shows the hidden rows.
func (s *sheet) open(b *ui.PaneContext) {
	if s.at >= len(s.lines) {
		return
	}
	l := s.lines[s.at]
	p := s.rows[l.row].pair
	switch {
	case l.gap > 0:
		s.onlyDifferences = false
		s.layout()
	case p == nil:
		b.Notice = "This line has no further parts."
	default:
		c := comparison{
			left:  side{label: s.left.label, kind: keytype.String, count: int64(len(p.left))},
			right: side{label: s.right.label, kind: keytype.String, count: int64(len(p.right))},
		}
		c.rows, c.note = diffTexts([]byte(p.left), []byte(p.right))
		title := "Compare"
		if p.name != "" {
			title += " " + visible(p.name)
		}
		b.Dialog = newSheet(title, c, s)
	}
}

// Footer implements ui.Dialog.
func (s *sheet) Footer() [][2]string {
	all := "differences only"
	if s.onlyDifferences {
		all = "all lines"
	}
	return [][2]string{{"n", "next"}, {"N", "before"}, {"d", all}, {"⏎", "open"}, {"↑↓", "move"}, {"esc", "close"}}
}

// TakesText implements ui.Dialog.
func (*sheet) TakesText() bool { return false }

// View implements ui.Dialog.
func (s *sheet) View(b *ui.PaneContext, width, height int) []string {
	if stacked := width < minSplitWidth; s.lines == nil || stacked != s.stacked {
		s.stacked = stacked
		s.layout()
	}
	s.height = max(height-headerLines, 1)
	if !s.first {
		s.first = true
		if len(s.rows) > 0 && s.rows[0].mark == same {
			s.seek(1)
		}
	}
	s.top = max(min(s.top, s.at-min(contextRows, s.height/3)), s.at+1+min(contextRows, s.height/3)-s.height)
	s.top = max(min(s.top, len(s.lines)-s.height), 0)
	lines := s.header(b, width)
	for i := s.top; i < min(s.top+s.height, len(s.lines)); i++ {
		lines = append(lines, s.draw(b, s.lines[i], i == s.at, width))
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

// summary returns the number of differences as text.
func (s *sheet) summary() string {
	n := 0
	for _, r := range s.rows {
		if r.mark != same {
			n++
		}
	}
	switch {
	case s.note != "":
		return s.note
	case n == 0 && s.left.kind != s.right.kind:
		return "one key is missing"
	case n == 0 && s.left.kind != "" && s.left.expires != s.right.expires:
		return "only the TTL differs"
	case n == 0:
		return "no difference"
	}
	return display.Counted(int64(n), "difference", "differences") + ", " + display.Grouped(int64(len(s.rows)-n)) + " equal"
}

// header returns the lines above the rows.
func (s *sheet) header(b *ui.PaneContext, width int) []string {
	title := b.Styles.Title.Render(" " + display.Truncate(s.title, width/2))
	lines := []string{screen.Between(title+"  "+b.Styles.Dim.Render(s.summary()), "", width)}
	left, right := b.Styles.Failure, b.Styles.Type(keytype.String)
	if s.stacked {
		return append(lines,
			display.Fit(left.Render(" - "+display.Text(s.left.label, width/2))+b.Styles.Dim.Render("  "+s.left.facts(b.Now)), width),
			display.Fit(right.Render(" + "+display.Text(s.right.label, width/2))+b.Styles.Dim.Render("  "+s.right.facts(b.Now)), width))
	}
	w := sideWidth(width)
	two := func(l, r string) string { return "  " + display.Fit(l, w) + "   " + display.Fit(r, w) }
	return append(lines,
		two(left.Render(display.Text(s.left.label, w)), right.Render(display.Text(s.right.label, w))),
		two(b.Styles.Dim.Render(s.left.facts(b.Now)), b.Styles.Dim.Render(s.right.facts(b.Now))))
}

// facts returns type, size and TTL of a side.
func (s side) facts(now int64) string {
	if s.kind == "" {
		return "no such key"
	}
	facts := display.Type(s.kind)
	if t := keytype.Of(s.kind); s.fields == nil {
		facts += " · " + display.Bytes(int64(max(len(s.text), int(s.count))))
	} else {
		facts += " · " + display.Counted(s.count, t.One, t.Many)
	}
	if s.expires > now {
		facts += " · expires in " + display.Remaining(s.expires-now)
	} else if s.expires != 0 {
		facts += " · expired"
	}
	return facts
}

// sideWidth returns the width of each side in cells.
func sideWidth(width int) int { return max((width-6)/2, 1) }

// draw renders a line.
func (s *sheet) draw(b *ui.PaneContext, l line, selected bool, width int) string {
	look := b.Styles.Row(selected, true)
	if l.gap > 0 {
		text := "⋯ " + display.Counted(int64(l.gap), "equal line", "equal lines")
		return look.Mark(selected) + look.Dim.Render(display.Fit(text, width-2))
	}
	r := s.rows[l.row]
	if s.stacked {
		text := r.left
		if l.side == rightOnly {
			text = r.right
		}
		return look.Mark(selected) + look.On(styleOf(b, l.side)).Render(string(l.side)+" ") + s.renderSide(b, look, r, l.side, text, width-4)
	}
	w := sideWidth(width)
	left, right := s.renderSide(b, look, r, leftOnly, r.left, w), s.renderSide(b, look, r, rightOnly, r.right, w)
	return look.Mark(selected) + left + look.On(styleOf(b, r.mark)).Render(" "+string(r.mark)+" ") + right + look.Text.Render(" ")
}

func styleOf(b *ui.PaneContext, m mark) lipgloss.Style {
	switch m {
	case leftOnly:
		return b.Styles.Failure
	case rightOnly:
		return b.Styles.Type(keytype.String)
	case changed:
		return b.Styles.Soon
	}
	return b.Styles.Dim
}

// renderSide renders one side of a row in width cells. In a changed row it keeps the
// difference in view and underlines it.
func (s *sheet) renderSide(b *ui.PaneContext, look screen.RowStyle, r row, half mark, text string, width int) string {
	if r.mark != changed {
		style := look.Text
		if r.mark != same {
			style = look.On(styleOf(b, half))
		}
		return style.Render(display.Fit(text, width))
	}
	head, middle, tail := splitDifference(r.left, r.right, half == rightOnly)
	if cells := len([]rune(head)); cells+len([]rune(middle)) > width && cells > width/3 {
		head = screen.TruncateLeft(head, width/3)
	}
	style := look.On(styleOf(b, half))
	line := style.Render(head) + style.Underline(true).Render(middle) + style.Render(tail)
	if middle == "" {
		line = style.Render(head + tail)
	}
	return display.Fit(line, width)
}

// splitDifference splits the text of one side into the common prefix, the differing part,
// and the common suffix.
func splitDifference(left, right string, ofRight bool) (head, middle, tail string) {
	a, b := []rune(left), []rune(right)
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	end := 0
	for end < min(len(a), len(b))-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	if ofRight {
		a = b
	}
	return string(a[:from]), strings.TrimSuffix(string(a[from:len(a)-end]), "\n"), string(a[len(a)-end:])
}
