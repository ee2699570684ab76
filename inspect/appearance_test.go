package inspect

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/internal/test/race"
)

// TestDefaultsAreALook checks that the output of --keys, used as the configuration, changes nothing.
func TestDefaultsAreALook(t *testing.T) {
	race.Skip(t)
	var text bytes.Buffer
	if err := WriteDefaults(&text); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if ansi.StringWidth(line) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
	var file struct {
		Inspect struct {
			Theme  string
			Keys   map[string]any
			Colors map[string]string
		}
	}
	if _, err := toml.Decode(text.String(), &file); err != nil {
		t.Fatalf("%v:\n%s", err, text.String())
	}
	l := Appearance{Theme: file.Inspect.Theme, Keys: map[string][]string{}, Colors: file.Inspect.Colors}
	for name, keys := range file.Inspect.Keys {
		if key, one := keys.(string); one {
			l.Keys[name] = []string{key}
			continue
		}
		for _, key := range keys.([]any) {
			l.Keys[name] = append(l.Keys[name], key.(string))
		}
	}
	theme, bound, err := l.read()
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range bindings() {
		if strings.Join(bound[i].keys, " ") != strings.Join(b.keys, " ") || len(b.keys) > 0 && len(l.Keys[b.name]) == 0 {
			t.Errorf("%s: %q is read as %q", b.name, b.keys, bound[i].keys)
		}
	}
	for _, c := range screen.Colors() {
		if l.Colors[c.Name] == "" || theme[c.Name] != l.Colors[c.Name] {
			t.Errorf("the colour of %s is %q", c.Name, l.Colors[c.Name])
		}
	}
}

// TestDefaultKeys checks that all keys can be pressed and that no two actions of a pane share one.
func TestDefaultKeys(t *testing.T) {
	race.Skip(t)
	taken := map[string]string{}
	for _, b := range bindings() {
		for _, key := range b.keys {
			if k, ok := keyNamed(key); !ok || k.String() != key {
				t.Errorf("%s: there is no key %q", b.name, key)
			}
			for _, p := range []scope{inKeys, inValue} {
				at := p.note() + key
				if other := taken[at]; b.where&p != 0 && other != "" {
					t.Errorf("%s is the key of %s and of %s", at, other, b.name)
				}
				if b.where&p != 0 {
					taken[at] = b.name
				}
			}
		}
	}
}

func TestBadLooks(t *testing.T) {
	race.Skip(t)
	for _, c := range []struct {
		look       Appearance
		path, says string
	}{
		{Appearance{Theme: "dark"}, "theme", `there is no theme "dark"; there are meowdis and terminal`},
		{Appearance{Keys: map[string][]string{"fliter": {"/"}}}, "keys fliter", `there is no action "fliter". Did you mean filter?`},
		{Appearance{Keys: map[string][]string{"zebra": {"/"}}}, "keys zebra", "meowdis inspect --keys lists them"},
		{Appearance{Keys: map[string][]string{"filter": {"ctrl+é"}}}, "keys filter", `there is no key "ctrl+é"`},
		{Appearance{Keys: map[string][]string{"filter": {"", "x"}}}, "keys filter", "there is no key "},
		{Appearance{Keys: map[string][]string{"filter": {"runes"}}}, "keys filter", `there is no key "runes"`},
		{Appearance{Keys: map[string][]string{"filter": {"ctrl+i"}}}, "keys filter", "to a terminal ctrl+i is tab"},
		{Appearance{Keys: map[string][]string{"filter": {"alt+f"}}}, "keys filter", "alt is Esc and then the letter"},
		{Appearance{Keys: map[string][]string{"filter": {"^C"}}}, "keys filter", "^C always means quit"},
		{Appearance{Keys: map[string][]string{"filter": {"F"}, "help": {"F"}}}, "keys help", "F is the key of filter and of help"},
		{Appearance{Colors: map[string]string{"accnt": "red"}}, "colors accnt", `nothing has a colour called "accnt"`},
		{Appearance{Colors: map[string]string{"dim": "beige"}}, "colors dim", `"beige" is not a colour`},
		{Appearance{Colors: map[string]string{"dim": "256"}}, "colors dim", `"256" is not a colour`},
		{Appearance{Colors: map[string]string{"dim": "#12345"}}, "colors dim", `"#12345" is not a colour`},
		{Appearance{Colors: map[string]string{"dim": ""}}, "colors dim", "is not a colour"},
		{Appearance{Colors: map[string]string{"dim": "red green blue"}}, "colors dim", "one for light and one for dark"},
		{Appearance{Colors: map[string]string{"dim": "reverse"}}, "colors dim", "only selected can be reverse"},
	} {
		var bad AppearanceError
		if err := c.look.Check(); !errors.As(err, &bad) || strings.Join(bad.Path, " ") != c.path || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v at %v\nwant %s at %s", c.look, err, bad.Path, c.says, c.path)
		}
	}
}

// TestOtherKeys checks that configured keys run their actions and appear in hints and messages, and
// that their former actions lose them.
func TestOtherKeys(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	was := f.fake.options
	f.fake.options = func(o *Options) {
		was(o)
		o.Appearance = Appearance{Keys: map[string][]string{"unlock": {"W", "Ctrl+G"}, "filter": {"F5"}, "sort": {"d"}, "quit": {}, "tree": {"space"}, "database": {}}}
	}
	s := browseOn(t, f, f.fake, 120, 24)
	s.shows("f5 filter", "d sort", "W unlock")
	s.hides("q quit", "w unlock", "d delete")
	s.press("delete")
	s.shows("Press W to unlock writing")
	s.press("w")
	s.shows("read-only")
	s.send(tea.KeyMsg{Type: tea.KeyCtrlG})
	s.wait(0)
	s.shows("Press W to lock it")
	s.send(tea.KeyMsg{Type: tea.KeyF5})
	s.shows("glob")
	s.press("esc", "d")
	s.shows("Sort")
	s.press("esc", "space") // instead of `
	s.hides("▸ user:")
	s.press("?")
	s.shows("^G", "f5")
	s.press("esc", "ctrl+p")
	s.typing("switch database") // it lost its key
	s.press("enter")
	s.shows("Database ", "101 keys")
	s.press("esc")
	hints := strings.Split(s.screen(), "\n")[23]
	x := len([]rune(hints[:strings.Index(hints, "f5")]))
	s.send(tea.MouseMsg{X: x, Y: 23, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	s.shows("glob")
}

// TestThemes checks that configured colours override the theme's, and that NO_COLOR removes all
// colours.
func TestThemes(t *testing.T) {
	race.Skip(t)
	draw := func(profile termenv.Profile, l Appearance) string {
		f := newFile(t).shop()
		s := browseOn(t, f, f.fake, 120, 24)
		r := lipgloss.NewRenderer(io.Discard)
		r.SetColorProfile(profile)
		s.model.options.Appearance = l
		m := New(s.model.options, r)
		m.Update(tea.WindowSizeMsg{Width: 120, Height: 24})
		return m.View()
	}
	for _, c := range []struct {
		profile termenv.Profile
		look    Appearance
		with    string
	}{
		{termenv.TrueColor, Appearance{}, "48;2;179;165;240"},
		{termenv.TrueColor, Appearance{Colors: map[string]string{"accent": "#fff #010203"}}, "48;2;1;2;3"},
		{termenv.TrueColor, Appearance{Theme: "terminal"}, "\x1b[1;30;105m"},
		{termenv.TrueColor, Appearance{Theme: "terminal", Colors: map[string]string{"accent": "208"}}, "48;5;208"},
	} {
		if got := draw(c.profile, c.look); !strings.Contains(got, c.with) {
			t.Errorf("%+v has no %q:\n%q", c.look, c.with, got)
		}
	}
	coloured := regexp.MustCompile(`\x1b\[[0-9;]*[34][0-9]`)
	if got := draw(termenv.Ascii, Appearance{Colors: map[string]string{"accent": "#fff #010203"}}); coloured.MatchString(got) {
		t.Errorf("without colours there are some:\n%q", got)
	}
}
