package screen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/meowdis/meowdis/keyspace/display"
)

// Theme maps colour names to colours in the form that ParseColor accepts.
type Theme map[string]string

// ThemeNames are the built-in themes, the default first.
var ThemeNames = []string{"meowdis", "terminal"}

// color describes a colour of a theme: its name, its use, and its value in each built-in theme.
type color struct{ Name, Help, meowdis, terminal string }

// Colors returns the colours of a theme in display order.
func Colors() []color {
	return []color{
		{"accent", "the name at the top, borders, keys, the cursor", "#6B4FBB #B4A5F0", "magenta bright_magenta"},
		{"contrast", "text on the accent and on an alarm", "#FFFFFF #1E1E2E", "white black"},
		{"dim", "less important text", "#7A7A85 #83859A", "bright_black"},
		{"rule", "lines between parts", "#C4C4CE #45475A", "bright_black"},
		{"failure", "errors, alarms, a TTL in its last seconds", "#B3261E #F28B82", "red bright_red"},
		{"soon", "a TTL in its last minute", "#8F6200 #E5C890", "yellow"},
		{"faded", "an expired or deleted key", "#B4B4BE #5B5D70", "bright_black"},
		{"selected", "behind the selected line; reverse swaps its colours", "#E4E0F5 #363A4F", reverse},
		{"resting", "the selected line of the other pane", "#F0F0F4 #2A2B3C", "none"},
		{"string", "the types of keys", "#33743A #A6D189", "green"},
		{"hash", "", "#2A62A8 #8CAAEE", "blue bright_blue"},
		{"list", "", "#8F6200 #E5C890", "yellow"},
		{"set", "", "#1B7575 #81C8BE", "cyan"},
		{"zset", "", "#A8502A #EF9F76", "red"},
		{"stream", "", "#9A3D8D #F4B8E4", "magenta"},
		{"json", "", "#7A7A85 #83859A", "bright_black"},
		{"array", "", "#5A6B1E #C3D17A", "bright_green green"},
		{"vectorset", "", "#4B5FA8 #B0BEF5", "bright_blue"},
	}
}

// ThemeOf returns the theme called name ("" for the default) with some colours replaced. An error in a
// replaced colour is a BadColor.
func ThemeOf(name string, replaced map[string]string) (Theme, error) {
	if name != "" && !slices.Contains(ThemeNames, name) {
		return nil, fmt.Errorf("there is no theme %q; there are %s", name, strings.Join(ThemeNames, " and "))
	}
	t := Theme{}
	var names []string
	for _, c := range Colors() {
		names = append(names, c.Name)
		if t[c.Name] = c.meowdis; name == "terminal" {
			t[c.Name] = c.terminal
		}
	}
	for what, text := range replaced {
		if _, ok := t[what]; !ok {
			return nil, BadColor{what, fmt.Errorf("nothing has a colour called %q; there are %s", what, strings.Join(names, ", "))}
		}
		if _, _, err := ParseColor(text); err != nil {
			return nil, BadColor{what, err}
		}
		if text == reverse && what != "selected" {
			return nil, BadColor{what, fmt.Errorf("only selected can be %s", reverse)}
		}
		t[what] = text
	}
	return t, nil
}

// BadColor is an error in a colour of a theme.
type BadColor struct {
	Name string
	Err  error
}

func (b BadColor) Error() string { return b.Err.Error() }

// reverse names the colour of a selected row that swaps text and background.
const reverse = "reverse"

// colorNames lists the terminal's own colours, in order; the prefix "bright_" selects 8 more.
var colorNames = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

// ParseColor parses a colour for any background, or one for light and one for dark backgrounds.
func ParseColor(text string) (light, dark string, err error) {
	words := strings.Fields(text)
	if len(words) != 1 && len(words) != 2 {
		return "", "", fmt.Errorf("%q is not a colour, nor one for light and one for dark backgrounds", display.Text(text, 40))
	}
	for i, word := range words {
		c, ok := parseColorWord(strings.ToLower(word))
		if !ok {
			return "", "", fmt.Errorf("%q is not a colour: give #RRGGBB, a number from 0 to 255, none, or %s, also with bright_ before it", display.Text(word, 40), strings.Join(colorNames, ", "))
		}
		words[i] = c
	}
	return words[0], words[len(words)-1], nil
}

// parseColorWord returns a colour in the form of lipgloss: a number or #RRGGBB, "" for none.
func parseColorWord(word string) (c string, ok bool) {
	if name, bright := strings.CutPrefix(word, "bright_"); slices.Contains(colorNames, name) {
		n := slices.Index(colorNames, name)
		if bright {
			n += len(colorNames)
		}
		return strconv.Itoa(n), true
	}
	if digits, hex := strings.CutPrefix(word, "#"); hex {
		_, err := strconv.ParseUint(digits, 16, 32)
		return word, err == nil && (len(digits) == 6 || len(digits) == 3)
	}
	n, err := strconv.Atoi(word)
	switch {
	case err == nil:
		return word, n >= 0 && n <= 255
	case word == "none" || word == reverse:
		return "", true
	}
	return "", false
}

// color returns the theme's colour called name.
func (t Theme) color(name string) lipgloss.TerminalColor {
	light, dark, err := ParseColor(t[name])
	if err != nil || light == "" && dark == "" {
		return lipgloss.NoColor{}
	}
	return lipgloss.AdaptiveColor{Light: light, Dark: dark}
}
