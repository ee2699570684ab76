package inspect

import (
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// styles is every look of the screen, made for one terminal: calm colours for
// light and dark backgrounds. Where there are none (NO_COLOR, a monochrome
// terminal), what matters is bold or reversed. Nothing is told by colour alone.
type styles struct {
	plain    lipgloss.Style
	dim      lipgloss.Style
	brand    lipgloss.Style
	title    lipgloss.Style
	accent   lipgloss.Style
	key      lipgloss.Style // a key of the keyboard
	rule     lipgloss.Style
	failure  lipgloss.Style
	soon     lipgloss.Style // a TTL in its last minute
	now      lipgloss.Style // a TTL in its last seconds
	faded    lipgloss.Style
	alarm    lipgloss.Style // that something can be changed
	kinds    map[string]lipgloss.Style
	selected lipgloss.TerminalColor // behind the selected line
	resting  lipgloss.TerminalColor // behind it where the focus is not
	reverses bool                   // the selected line is reversed: the terminal has no shade for it
}

func shade(light, dark string) lipgloss.AdaptiveColor {
	return lipgloss.AdaptiveColor{Light: light, Dark: dark}
}

func newStyles(r *lipgloss.Renderer) styles {
	profile := r.ColorProfile()
	if profile == termenv.Ascii {
		return monochrome(r)
	}
	ink := func(light, dark string) lipgloss.Style {
		return r.NewStyle().Foreground(shade(light, dark))
	}
	accent := ink("#6B4FBB", "#B4A5F0")
	return styles{
		plain:   r.NewStyle(),
		dim:     ink("#7A7A85", "#83859A"),
		brand:   r.NewStyle().Bold(true).Foreground(shade("#FFFFFF", "#1E1E2E")).Background(shade("#6B4FBB", "#B4A5F0")),
		title:   r.NewStyle().Bold(true),
		accent:  accent,
		key:     accent.Bold(true),
		rule:    ink("#C4C4CE", "#45475A"),
		failure: ink("#B3261E", "#F28B82"),
		soon:    ink("#8F6200", "#E5C890"),
		now:     ink("#B3261E", "#F28B82"),
		alarm:   r.NewStyle().Bold(true).Foreground(shade("#FFFFFF", "#1E1E2E")).Background(shade("#B3261E", "#F28B82")),
		faded:   ink("#B4B4BE", "#5B5D70").Strikethrough(true),
		kinds: map[string]lipgloss.Style{
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
		reverses: profile == termenv.ANSI,
	}
}

// monochrome is the styles without colours. A terminal that may show none still
// has bold and reversed text.
func monochrome(r *lipgloss.Renderer) styles {
	r.SetColorProfile(termenv.ANSI)
	plain := r.NewStyle()
	bold, reverse := plain.Bold(true), plain.Bold(true).Reverse(true)
	return styles{
		plain: plain, dim: plain, rule: plain, accent: plain, soon: plain,
		title: bold, key: bold, failure: bold, now: bold,
		brand: reverse, alarm: reverse,
		faded: plain.Strikethrough(true), reverses: true,
	}
}

// kind is the look of a type's name.
func (s styles) kind(name string) lipgloss.Style {
	if style, ok := s.kinds[name]; ok {
		return style
	}
	return s.dim
}

// look is the styles of the parts of a line in a list, all on one background.
type look struct {
	styles
	text, dim lipgloss.Style
	back      lipgloss.TerminalColor // nil: the terminal's
	reversed  bool
	focused   bool
}

func (s styles) row(selected, focused bool) look {
	r := look{styles: s, focused: focused, reversed: selected && focused && s.reverses}
	switch {
	case s.reverses:
	case selected && focused:
		r.back = s.selected
	case selected:
		r.back = s.resting
	}
	r.text, r.dim = r.on(s.plain), r.on(s.dim)
	return r
}

// on is style on the line's background.
func (r look) on(style lipgloss.Style) lipgloss.Style {
	switch {
	case r.reversed:
		return style.UnsetForeground().Reverse(true)
	case r.back != nil:
		return style.Background(r.back)
	}
	return style
}

// mark is the two cells at the head of a line, which tell the selected one
// without colour.
func (r look) mark(selected bool) string {
	switch {
	case selected && r.focused:
		return r.on(r.accent).Render("▌ ")
	case selected:
		return r.on(r.rule).Render("▏ ")
	}
	return r.text.Render("  ")
}
