package inspect

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/inspect/screen"
	"github.com/meowdis/meowdis/internal/spelling"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Appearance is the user's choice of keys and colours. The zero value is the default.
type Appearance struct {
	Theme  string
	Keys   map[string][]string // by action name; an empty list unbinds the action
	Colors map[string]string   // by colour name
}

// AppearanceError is an error in an Appearance, with the configuration path of the bad setting.
type AppearanceError struct {
	Path []string
	Err  error
}

func (b AppearanceError) Error() string { return b.Err.Error() }

// Check returns an AppearanceError if the Appearance is invalid.
func (l Appearance) Check() error {
	_, _, err := l.read()
	return err
}

func (l Appearance) read() (screen.Theme, []binding, error) {
	theme, err := screen.ThemeOf(l.Theme, l.Colors)
	if err != nil {
		var bad screen.BadColor
		if errors.As(err, &bad) {
			return nil, nil, AppearanceError{[]string{"colors", bad.Name}, err}
		}
		return nil, nil, AppearanceError{[]string{"theme"}, err}
	}
	bound, err := rebind(bindings(), l.Keys)
	return theme, bound, err
}

// rebind returns list with the given keys. A key given to one action is removed from the other actions
// of the same pane; giving a key to two actions is an error.
func rebind(list []binding, given map[string][]string) ([]binding, error) {
	var names []string
	for _, b := range list {
		names = append(names, b.name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, AppearanceError{[]string{"keys", name}, fmt.Errorf("there is no action %q.%s", name, suggestion(name, names))}
		}
		keys, err := readKeys(name, given[name])
		if err != nil {
			return nil, AppearanceError{[]string{"keys", name}, err}
		}
		list[i].keys = keys
	}
	for i := range list {
		if _, asked := given[list[i].name]; !asked {
			continue
		}
		if err := takeKeys(list, i, given); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readKeys parses the keys given to an action.
func readKeys(action string, texts []string) (keys []string, err error) {
	for _, text := range texts {
		key, err := readKey(text)
		if err == nil {
			err = checkReserved(action, key)
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// takeKeys removes the keys of list[i] from the other actions of its panes, unless given names the other action, too.
func takeKeys(list []binding, i int, given map[string][]string) error {
	for j := range list {
		if j == i || list[j].where&list[i].where == 0 {
			continue
		}
		_, asked := given[list[j].name]
		for _, key := range list[i].keys {
			if asked && slices.Contains(list[j].keys, key) {
				first, later := list[min(i, j)].name, list[max(i, j)].name
				return AppearanceError{[]string{"keys", later}, fmt.Errorf("%s is the key of %s and of %s", keySign(key), first, later)}
			}
			list[j].keys = slices.DeleteFunc(list[j].keys, func(k string) bool { return k == key })
		}
	}
	return nil
}

func suggestion(word string, words []string) string {
	if question := spelling.Question(spelling.Nearest(word, words)); question != "" {
		return question
	}
	return " meowdis inspect --keys lists them"
}

// checkReserved returns an error for a key with a fixed meaning.
func checkReserved(action, key string) error {
	for fixed, of := range map[string]string{"ctrl+c": "quit", "ctrl+z": "suspend"} {
		if key == fixed && action != of {
			return fmt.Errorf("%s always means %s", keySign(key), of)
		}
	}
	return nil
}

// keyAliases maps other names of keys to bubbletea's.
var keyAliases = map[string]string{
	"space": " ", "escape": "esc", "return": "enter", "del": "delete", "pageup": "pgup", "pagedown": "pgdown", "ins": "insert",
}

// readKey returns bubbletea's name of a key.
func readKey(text string) (string, error) {
	if _, ok := keyNamed(text); ok {
		return text, nil
	}
	name := strings.ToLower(text)
	if other, ok := keyAliases[name]; ok {
		return other, nil
	}
	if letter, ok := strings.CutPrefix(name, "^"); ok {
		name = "ctrl+" + letter
	}
	switch _, ok := keyNamed(name); {
	case ok:
		return name, nil
	case name == "ctrl+i" || name == "ctrl+m" || name == "ctrl+[":
		same := map[string]string{"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "esc"}[name]
		return "", fmt.Errorf("to a terminal %s is %s", name, same)
	case strings.HasPrefix(name, "alt+"):
		return "", fmt.Errorf("%s: alt is Esc and then the letter, which are keys of their own", display.Text(text, 20))
	}
	return "", fmt.Errorf("there is no key %q: a key is a letter or a sign, ctrl+LETTER, f1 to f20, or one of enter, tab, esc, space, backspace, delete, insert, up, down, left, right, home, end, pgup, pgdown, also with shift+ or ctrl+", display.Text(text, 20))
}

// keyNamed returns the key with a bubbletea name.
func keyNamed(name string) (tea.KeyMsg, bool) {
	if letters := []rune(name); len(letters) == 1 && letters[0] > ' ' {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: letters}, true
	}
	for t := tea.KeyCtrlQuestionMark; t >= tea.KeyF20; t-- {
		if t == tea.KeyRunes || t.String() != name || name == "" {
			continue
		}
		k := tea.KeyMsg{Type: t}
		if t == tea.KeySpace {
			k.Runes = []rune{' '}
		}
		return k, true
	}
	return tea.KeyMsg{}, false
}

// keyFor returns the displayed key of an action, or how to run it from the palette if it has no key.
func (m *Model) keyFor(action string) string {
	switch b := m.action(action); {
	case b != nil && len(b.keys) > 0:
		return keySign(b.keys[0])
	case action != paletteName:
		return m.keyFor(paletteName) + " and " + action
	}
	return "? /"
}

// WriteDefaults writes the default keys and colours as a configuration file, at most 80 columns wide.
func WriteDefaults(w io.Writer) error {
	var b strings.Builder
	b.WriteString("[inspect]\ntheme = \"" + screen.ThemeNames[0] + "\" # or " + strings.Join(screen.ThemeNames[1:], ", ") + "\n\n[inspect.keys]\n")
	for _, s := range []struct {
		where scope
		name  string
	}{{everywhere, "anywhere"}, {inKeys, "in the keys"}, {inValue, "in a value"}} {
		b.WriteString("# " + s.name + "\n")
		for _, each := range bindings() {
			if each.where == s.where {
				b.WriteString(commented(each.name+" = "+quotedKeys(each.keys), each.help))
			}
		}
	}
	b.WriteString("\n# One colour, or one for light backgrounds and one for dark ones: #RRGGBB, a\n# number from 0 to 255, or red, bright_red, …; none is the terminal's own.\n[inspect.colors]\n")
	for _, c := range screen.Colors() {
		text, _ := screen.ThemeOf("", nil)
		b.WriteString(commented(c.Name+" = \""+text[c.Name]+"\"", c.Help))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// commented returns a configuration line with a comment beside it, or below it if the line is too long.
func commented(line, comment string) string {
	const column, width = 28, 80
	if comment == "" {
		return line + "\n"
	}
	var b strings.Builder
	if ansi.StringWidth(line) > column {
		b.WriteString(line + "\n")
		line = ""
	}
	for part := range strings.SplitSeq(ansi.Wordwrap(comment, width-column-len(" # "), ""), "\n") {
		b.WriteString(screen.Pad(line, column) + " # " + part + "\n")
		line = ""
	}
	return b.String()
}

// quotedKeys returns keys as TOML.
func quotedKeys(keys []string) string {
	quoted := make([]string, len(keys))
	for i, key := range keys {
		if key == " " {
			key = "space"
		}
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
