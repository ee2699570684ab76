package profile

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// edited returns the text of the file with its changes: the lines of changed profiles are replaced, and all other
// lines, with the comments, are kept. If the profiles are written in a form that it cannot edit, it returns a new text.
func (f *File) edited() (string, error) {
	before := &File{}
	if _, err := toml.Decode(f.text, before); err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSuffix(f.text, "\n"), "\n")
	if f.text == "" {
		lines = nil
	}
	for _, name := range before.Names() {
		if _, kept := f.Profiles[name]; !kept {
			lines = replaceTable(lines, name, nil)
		}
	}
	for _, name := range f.Names() {
		if was, there := before.Profiles[name]; there && reflect.DeepEqual(was, f.Profiles[name]) {
			continue
		}
		table, err := tableLines(name, f.Profiles[name])
		if err != nil {
			return "", err
		}
		lines = replaceTable(lines, name, table)
	}
	if before.InUse != f.InUse {
		lines = setInUse(lines, f.InUse)
	}
	text := strings.Join(lines, "\n") + "\n"
	after := &File{}
	if _, err := toml.Decode(text, after); err == nil && after.InUse == f.InUse && sameProfiles(after.Profiles, f.Profiles) && reflect.DeepEqual(after.Inspect, f.Inspect) && reflect.DeepEqual(after.REPL, f.REPL) {
		return text, nil
	}
	return encoded(f)
}

func sameProfiles(a, b map[string]Profile) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

// encoded returns v in TOML.
func encoded(v any) (string, error) {
	var text bytes.Buffer
	enc := toml.NewEncoder(&text)
	enc.Indent = ""
	err := enc.Encode(v)
	return text.String(), err
}

// tableLines returns the lines of a profile.
func tableLines(name string, p Profile) ([]string, error) {
	text, err := encoded(&File{Profiles: map[string]Profile{name: p}})
	_, text, _ = strings.Cut(text, "[profiles]\n")
	return strings.Split(strings.TrimSpace(text), "\n"), err
}

// isHeader matches the first line of any table, and isInUse the line of the profile in use.
var (
	isHeader = regexp.MustCompile(`^\s*\[`)
	isInUse  = regexp.MustCompile(`^\s*profile\s*=`)
)

// replaceTable replaces the lines of the profile called name, or appends them. The comments above the next table are
// not part of it.
func replaceTable(lines []string, name string, table []string) []string {
	header := regexp.MustCompile(`^\s*\[\s*profiles\s*\.\s*["']?` + regexp.QuoteMeta(name) + `["']?\s*\]`)
	begin := slices.IndexFunc(lines, header.MatchString)
	if begin < 0 {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		return append(lines, table...)
	}
	end := begin + 1
	for end < len(lines) && !isHeader.MatchString(lines[end]) {
		end++
	}
	for end > begin+1 && (strings.TrimSpace(lines[end-1]) == "" || strings.HasPrefix(strings.TrimSpace(lines[end-1]), "#")) {
		end--
	}
	if table == nil { // with the empty lines after it
		for end < len(lines) && strings.TrimSpace(lines[end]) == "" {
			end++
		}
	}
	return slices.Concat(lines[:begin], table, lines[end:])
}

// setInUse sets the profile in use, whose line comes before all tables. An empty name deletes the line.
func setInUse(lines []string, name string) []string {
	tables := slices.IndexFunc(lines, isHeader.MatchString)
	if tables < 0 {
		tables = len(lines)
	}
	line, _ := encoded(&File{InUse: name}) // a string can always be encoded
	line = strings.TrimSpace(line)
	switch at := slices.IndexFunc(lines[:tables], isInUse.MatchString); {
	case at >= 0 && name == "":
		return slices.Delete(lines, at, at+1)
	case at >= 0:
		lines[at] = line
		return lines
	case name == "":
		return lines
	}
	return slices.Insert(lines, tables, line, "")
}
