package profile

import (
	"fmt"
	"strconv"
	"strings"
)

// REPL holds the settings of the prompt, as :set writes them; "" means the default. Package repl knows the valid
// values.
type REPL struct {
	Prompt      string `toml:"prompt,omitempty"`
	Format      string `toml:"format,omitempty"`
	Pager       string `toml:"pager,omitempty"`
	Danger      string `toml:"danger,omitempty"`
	Hints       string `toml:"hints,omitempty"`
	Suggestions string `toml:"suggestions,omitempty"`
	Timing      string `toml:"timing,omitempty"`
	EditingMode string `toml:"editing-mode,omitempty"`

	Favourites map[string]string `toml:"favourites,omitempty"` // commands, by name
	Variables  map[string]string `toml:"variables,omitempty"`
}

// Settings returns the settings by name.
func (r *REPL) Settings() map[string]string {
	all := map[string]string{
		"prompt": r.Prompt, "format": r.Format, "pager": r.Pager, "danger": r.Danger, "hints": r.Hints,
		"suggestions": r.Suggestions, "timing": r.Timing, "editing-mode": r.EditingMode,
	}
	for name, value := range all {
		if value == "" {
			delete(all, name)
		}
	}
	return all
}

// Set stores a text in a table of the file at path, such as repl.variables, and keeps everything else in the file as it
// is. "" removes the key.
func Set(path, table, key, value string) error {
	f, err := Load(path)
	if err != nil {
		return err
	}
	next := &File{path: path}
	text := withKey(f.text, table, key, value)
	if err := next.parse(text); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if text == f.text {
		return nil
	}
	if err := f.write([]byte(text)); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	return nil
}

// withKey returns a TOML text with another value of a key.
func withKey(text, table, key, value string) string {
	if !bareKey(key) {
		key = strconv.Quote(key)
	}
	var out []string
	inTable, seen, end := false, false, 0 // end: after the table's last key
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			line += "\n"
		}
		bare := strings.TrimSpace(line)
		name, _, isKey := strings.Cut(bare, "=")
		switch {
		case strings.HasPrefix(bare, "["):
			inTable = bare == "["+table+"]"
		case inTable && isKey && strings.TrimSpace(name) == key:
			continue
		}
		out = append(out, line)
		if inTable && bare != "" {
			seen, end = true, len(out)
		}
	}
	if value == "" {
		return strings.Join(out, "")
	}
	line := key + " = " + quoted(value) + "\n"
	if !seen {
		if len(out) > 0 {
			line = "\n[" + table + "]\n" + line
		} else {
			line = "[" + table + "]\n" + line
		}
		return strings.Join(out, "") + line
	}
	return strings.Join(out[:end], "") + line + strings.Join(out[end:], "")
}

func bareKey(key string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// quoted returns a TOML string.
func quoted(value string) string {
	text, _ := encoded(map[string]string{"k": value}) // a string can always be encoded
	return strings.TrimPrefix(strings.TrimSpace(text), "k = ")
}
