package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/meowdis/meowdis/internal/spelling"
)

// File is the configuration file.
type File struct {
	// InUse is the profile that commands use by default.
	InUse    string             `toml:"profile,omitempty"`
	Profiles map[string]Profile `toml:"profiles,omitempty"`
	// Inspect is nil if the file has no settings for the inspector.
	Inspect *Inspect `toml:"inspect,omitempty"`
	// REPL is nil if the file has no settings for the prompt.
	REPL *REPL `toml:"repl,omitempty"`

	path string
	text string // as read
}

// Load reads the file at path. A missing file has no profiles. An unknown setting is an error, because it may be a
// misspelt one that protects a target.
func Load(path string) (*File, error) {
	f := &File{path: path}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	if err := f.parse(string(text)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return f, nil
}

func (f *File) parse(text string) error {
	f.text = text
	meta, err := toml.Decode(text, f)
	if err != nil {
		return err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return fmt.Errorf("line %d: unknown setting %q", lineOf(text, unknown[0]), unknown[0])
	}
	for _, name := range f.Names() {
		if err := f.Profiles[name].check(name); err != nil {
			return err
		}
	}
	if f.Inspect != nil {
		for _, name := range slices.Sorted(maps.Keys(f.Inspect.Decoders)) {
			if err := f.Inspect.Decoders[name].check(); err != nil {
				return fmt.Errorf("line %d: inspect.decoders.%s: %w", f.Line("inspect", "decoders", name), name, err)
			}
		}
	}
	if _, ok := f.Profiles[f.InUse]; f.InUse != "" && !ok {
		return fmt.Errorf("profile = %q: unknown profile", f.InUse)
	}
	return nil
}

// lineOf returns the number of the line that defines key: the last line of the shortest prefix of text that has it.
func lineOf(text string, key toml.Key) int {
	end, lines := 0, bytes.SplitAfter([]byte(text), []byte("\n"))
	for n, line := range lines {
		end += len(line)
		var ignored map[string]any
		if meta, err := toml.Decode(text[:end], &ignored); err == nil && meta.IsDefined(key...) {
			return n + 1
		}
	}
	return len(lines)
}

// Names returns the names of the profiles, sorted.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.Profiles)) }

// Get returns the profile called name.
func (f *File) Get(name string) (Profile, error) {
	p, ok := f.Profiles[name]
	if !ok {
		if question := spelling.Question(spelling.Nearest(name, f.Names())); question != "" {
			return p, fmt.Errorf("unknown profile %q.%s", name, question)
		}
		return p, fmt.Errorf("unknown profile %q: meowdis profile list shows the profiles", name)
	}
	return p, nil
}

// Add adds a new profile.
func (f *File) Add(name string, p Profile) error {
	if err := p.check(name); err != nil {
		return err
	}
	if _, there := f.Profiles[name]; there {
		return fmt.Errorf("profile %s already exists: remove it with meowdis profile remove %s", name, name)
	}
	if f.Profiles == nil {
		f.Profiles = map[string]Profile{}
	}
	f.Profiles[name] = p
	return nil
}

// Remove deletes a profile.
func (f *File) Remove(name string) {
	delete(f.Profiles, name)
	if f.InUse == name {
		f.InUse = ""
	}
}

// Save replaces the file atomically. Only its owner can read it.
func (f *File) Save() error {
	if err := f.save(); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	return nil
}

func (f *File) save() error {
	text, err := f.edited()
	if err != nil {
		return err
	}
	return f.write([]byte(text))
}

// write replaces the file atomically.
func (f *File) write(text []byte) (err error) {
	path := f.path
	if path == "" {
		return errors.New("the home directory, where it is saved, is missing: set HOME or XDG_CONFIG_HOME")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a symbolic link, as into a dotfiles repository, stays a link
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".config-*.toml") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
