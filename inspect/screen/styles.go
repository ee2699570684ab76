package screen

import (
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/meowdis/meowdis/keyspace/display"
)

// Styles is the styles of the screen for one terminal, in calm colours for light and dark backgrounds.
// Without colours (NO_COLOR, a monochrome terminal) they use bold and reversed text. Nothing is
// conveyed by colour alone.
type Styles struct {
	Plain   lipgloss.Style
	Dim     lipgloss.Style
	Brand   lipgloss.Style
	Title   lipgloss.Style
	Accent  lipgloss.Style
	Key     lipgloss.Style // a keyboard key
	Rule    lipgloss.Style
	Failure lipgloss.Style
	Soon    lipgloss.Style // a TTL in its last minute
	Now     lipgloss.Style // a TTL in its last seconds
	Faded   lipgloss.Style
	Alarm   lipgloss.Style // writing is unlocked
	types   map[string]lipgloss.Style
	selection
}

// selection shows which line is selected.
type selection struct {
	selected  lipgloss.TerminalColor // behind the selected line
	unfocused lipgloss.TerminalColor // behind the selected line of the unfocused pane
	Reverses  bool                   // the selected line is reversed because the terminal has no shade for it
}

// NewStyles returns the styles for the terminal of r in the colours of a theme.
func NewStyles(r *lipgloss.Renderer, t Theme) Styles {
	profile := r.ColorProfile()
	if profile == termenv.Ascii {
		return monochrome(r)
	}
	ink := func(name string) lipgloss.Style { return r.NewStyle().Foreground(t.color(name)) }
	on := func(name string) lipgloss.Style { return ink("contrast").Bold(true).Background(t.color(name)) }
	s := Styles{
		Plain:   r.NewStyle(),
		Dim:     ink("dim"),
		Brand:   on("accent"),
		Title:   r.NewStyle().Bold(true),
		Accent:  ink("accent"),
		Key:     ink("accent").Bold(true),
		Rule:    ink("rule"),
		Failure: ink("failure"),
		Soon:    ink("soon"),
		Now:     ink("failure"),
		Alarm:   on("failure"),
		Faded:   ink("faded").Strikethrough(true),
		types:   map[string]lipgloss.Style{},
		selection: selection{
			selected:  t.color("selected"),
			unfocused: t.color("resting"),
			Reverses:  profile == termenv.ANSI || t["selected"] == reverse,
		},
	}
	for _, name := range typeNames {
		s.types[name] = ink(name)
	}
	s.types[jsonType] = ink("json")
	return s
}

// typeNames lists the types with a colour under their own name; a module's JSON has its colour under
// "json".
var typeNames = []string{"string", "hash", "list", "set", "zset", "stream", "array", "vectorset"}

const jsonType = "ReJSON-RL"

// monochrome returns the styles without colours. A terminal without colours still has bold and reversed
// text.
func monochrome(r *lipgloss.Renderer) Styles {
	r.SetColorProfile(termenv.ANSI)
	plain := r.NewStyle()
	bold, reverse := plain.Bold(true), plain.Bold(true).Reverse(true)
	return Styles{
		Plain: plain, Dim: plain, Rule: plain, Accent: plain, Soon: plain,
		Title: bold, Key: bold, Failure: bold, Now: bold,
		Brand: reverse, Alarm: reverse,
		Faded: plain.Strikethrough(true), selection: selection{Reverses: true},
	}
}

// Type returns the style of a type's name.
func (s Styles) Type(name string) lipgloss.Style {
	if style, ok := s.types[name]; ok {
		return style
	}
	return s.Dim
}

// RowStyle is the styles of the parts of a row, all on one background.
type RowStyle struct {
	Styles
	Text, Dim  lipgloss.Style
	background lipgloss.TerminalColor // nil: the terminal's
	reversed   bool
	focused    bool
}

// Row returns the styles of a row in a list.
func (s Styles) Row(selected, focused bool) RowStyle {
	r := RowStyle{Styles: s, focused: focused, reversed: selected && focused && s.Reverses}
	switch {
	case s.Reverses:
	case selected && focused:
		r.background = s.selected
	case selected:
		r.background = s.unfocused
	}
	r.Text, r.Dim = r.On(s.Plain), r.On(s.Dim)
	return r
}

// On returns style on the background of the row.
func (r RowStyle) On(style lipgloss.Style) lipgloss.Style {
	switch {
	case r.reversed:
		return style.UnsetForeground().Reverse(true)
	case r.background != nil:
		return style.Background(r.background)
	}
	return style
}

// Mark returns the two cells at the start of a row, which mark the selected row without colour.
func (r RowStyle) Mark(selected bool) string {
	switch {
	case selected && r.focused:
		return r.On(r.Accent).Render("▌ ")
	case selected:
		return r.On(r.Rule).Render("▏ ")
	}
	return r.Text.Render("  ")
}

// TTL returns the style of a time to live, which highlights keys about to expire.
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

// Right renders s right-aligned in width cells.
func (l RowStyle) Right(style lipgloss.Style, s string, width int) string {
	s = display.Truncate(s, width)
	return l.Text.Render(display.Spaces(width-ansi.StringWidth(s))) + style.Render(s)
}
