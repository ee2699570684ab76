package screen

import (
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/meowdis/meowdis/display"
)

// Styles is every look of the screen, made for one terminal: calm colours for
// light and dark backgrounds. Where there are none (NO_COLOR, a monochrome
// terminal), what matters is bold or reversed. Nothing is told by colour alone.
type Styles struct {
	Plain    lipgloss.Style
	Dim      lipgloss.Style
	Brand    lipgloss.Style
	Title    lipgloss.Style
	Accent   lipgloss.Style
	Key      lipgloss.Style // a key of the keyboard
	Rule     lipgloss.Style
	Failure  lipgloss.Style
	Soon     lipgloss.Style // a TTL in its last minute
	Now      lipgloss.Style // a TTL in its last seconds
	Faded    lipgloss.Style
	Alarm    lipgloss.Style // that something can be changed
	types    map[string]lipgloss.Style
	selected lipgloss.TerminalColor // behind the selected line
	resting  lipgloss.TerminalColor // behind it where the focus is not
	Reverses bool                   // the selected line is reversed: the terminal has no shade for it
}

func shade(light, dark string) lipgloss.AdaptiveColor {
	return lipgloss.AdaptiveColor{Light: light, Dark: dark}
}

// NewStyles is the styles for the terminal of r.
func NewStyles(r *lipgloss.Renderer) Styles {
	profile := r.ColorProfile()
	if profile == termenv.Ascii {
		return monochrome(r)
	}
	ink := func(light, dark string) lipgloss.Style {
		return r.NewStyle().Foreground(shade(light, dark))
	}
	accent := ink("#6B4FBB", "#B4A5F0")
	return Styles{
		Plain:   r.NewStyle(),
		Dim:     ink("#7A7A85", "#83859A"),
		Brand:   r.NewStyle().Bold(true).Foreground(shade("#FFFFFF", "#1E1E2E")).Background(shade("#6B4FBB", "#B4A5F0")),
		Title:   r.NewStyle().Bold(true),
		Accent:  accent,
		Key:     accent.Bold(true),
		Rule:    ink("#C4C4CE", "#45475A"),
		Failure: ink("#B3261E", "#F28B82"),
		Soon:    ink("#8F6200", "#E5C890"),
		Now:     ink("#B3261E", "#F28B82"),
		Alarm:   r.NewStyle().Bold(true).Foreground(shade("#FFFFFF", "#1E1E2E")).Background(shade("#B3261E", "#F28B82")),
		Faded:   ink("#B4B4BE", "#5B5D70").Strikethrough(true),
		types: map[string]lipgloss.Style{
			"string":    ink("#33743A", "#A6D189"),
			"hash":      ink("#2A62A8", "#8CAAEE"),
			"list":      ink("#8F6200", "#E5C890"),
			"set":       ink("#1B7575", "#81C8BE"),
			"zset":      ink("#A8502A", "#EF9F76"),
			"array":     ink("#5A6B1E", "#C3D17A"),
			"vectorset": ink("#4B5FA8", "#B0BEF5"),
			"stream":    ink("#9A3D8D", "#F4B8E4"),
		},
		selected: shade("#E4E0F5", "#363A4F"),
		resting:  shade("#F0F0F4", "#2A2B3C"),
		Reverses: profile == termenv.ANSI,
	}
}

// monochrome is the styles without colours. A terminal that may show none still
// has bold and reversed text.
func monochrome(r *lipgloss.Renderer) Styles {
	r.SetColorProfile(termenv.ANSI)
	plain := r.NewStyle()
	bold, reverse := plain.Bold(true), plain.Bold(true).Reverse(true)
	return Styles{
		Plain: plain, Dim: plain, Rule: plain, Accent: plain, Soon: plain,
		Title: bold, Key: bold, Failure: bold, Now: bold,
		Brand: reverse, Alarm: reverse,
		Faded: plain.Strikethrough(true), Reverses: true,
	}
}

// Type is the look of a type's name.
func (s Styles) Type(name string) lipgloss.Style {
	if style, ok := s.types[name]; ok {
		return style
	}
	return s.Dim
}

// RowStyle is the styles of the parts of a line in a list, all on one background.
type RowStyle struct {
	Styles
	Text, Dim lipgloss.Style
	back      lipgloss.TerminalColor // nil: the terminal's
	reversed  bool
	focused   bool
}

// Row is the styles of a line in a list.
func (s Styles) Row(selected, focused bool) RowStyle {
	r := RowStyle{Styles: s, focused: focused, reversed: selected && focused && s.Reverses}
	switch {
	case s.Reverses:
	case selected && focused:
		r.back = s.selected
	case selected:
		r.back = s.resting
	}
	r.Text, r.Dim = r.On(s.Plain), r.On(s.Dim)
	return r
}

// On is style on the line's background.
func (r RowStyle) On(style lipgloss.Style) lipgloss.Style {
	switch {
	case r.reversed:
		return style.UnsetForeground().Reverse(true)
	case r.back != nil:
		return style.Background(r.back)
	}
	return style
}

// Mark is the two cells at the head of a line, which tell the selected one
// without colour.
func (r RowStyle) Mark(selected bool) string {
	switch {
	case selected && r.focused:
		return r.On(r.Accent).Render("▌ ")
	case selected:
		return r.On(r.Rule).Render("▏ ")
	}
	return r.Text.Render("  ")
}

// TTL is the look of a time to live: it draws the eye to what ends soon.
func (s Styles) TTL(expires, now int64) lipgloss.Style {
	left := expires - now
	switch {
	case expires == 0:
		return s.Dim
	case left < 10_000:
		return s.Now
	case left < 60_000:
		return s.Soon
	}
	return s.Plain
}

// Right renders s at the right end of width cells, the rest in the line's look.
func (l RowStyle) Right(style lipgloss.Style, s string, width int) string {
	s = display.Truncate(s, width)
	return l.Text.Render(display.Spaces(width-ansi.StringWidth(s))) + style.Render(s)
}
