// Package recents stores which keys of a target a person opened recently and bookmarked. It
// stores names only, never values, in one file for each target with mode 0600.
package recents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/meowdis/meowdis/internal/lockfile"
	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/redis/xxh3"
)

// Limits of the keys stored for a target. The oldest recent keys are dropped; another
// bookmark is refused. Longer names are not stored.
const (
	MostRecent    = 100
	MostBookmarks = 500
	LongestName   = 1024
)

// Key is a key of the target.
type Key struct {
	DB   int    `json:"db"`
	Name []byte `json:"key"` // base64, since a name is any bytes
	At   int64  `json:"at"`  // when it was last opened or bookmarked, Unix ms
}

// Keys holds the stored keys: bookmarks in the order they were made, recent keys latest first.
type Keys struct {
	Bookmarks []Key `json:"bookmarks"`
	Recent    []Key `json:"recent"`
}

// Store holds the stored keys of one target. It is safe for concurrent use.
type Store struct {
	path string // "": the keys are kept only for the session
	now  func() int64

	mu   sync.Mutex
	keys Keys
}

// New returns the stored keys of a target in dir; if dir is "", they last only for the
// session. The file is created with the first key.
func New(dir, target string, now func() int64) *Store {
	m := &Store{now: now}
	if dir != "" {
		m.path = filepath.Join(dir, fmt.Sprintf("%016x.json", xxh3.HashString(target)))
	}
	return m
}

// Keys returns the stored keys, including keys written by other sessions.
func (m *Store) Keys() (Keys, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.read()
	return Keys{slices.Clone(m.keys.Bookmarks), slices.Clone(m.keys.Recent)}, err
}

// Visit records that a key was opened.
func (m *Store) Visit(db int, name string) error {
	if len(name) > LongestName {
		return nil
	}
	return m.change(func(k *Keys) error {
		list := slices.DeleteFunc(k.Recent, matches(db, name))
		list = slices.Insert(list, 0, Key{db, []byte(name), m.now()})
		k.Recent = list[:min(len(list), MostRecent)]
		return nil
	})
}

// ToggleBookmark toggles the bookmark of a key, and reports whether the key now has one.
func (m *Store) ToggleBookmark(db int, name string) (marked bool, err error) {
	if len(name) > LongestName {
		return false, fmt.Errorf("a name of more than %d bytes cannot be bookmarked", LongestName)
	}
	err = m.change(func(k *Keys) error {
		before := len(k.Bookmarks)
		k.Bookmarks = slices.DeleteFunc(k.Bookmarks, matches(db, name))
		if marked = len(k.Bookmarks) == before; !marked {
			return nil
		}
		if before >= MostBookmarks {
			return fmt.Errorf("%d bookmarks are the limit: remove one first", MostBookmarks)
		}
		k.Bookmarks = append(k.Bookmarks, Key{db, []byte(name), m.now()})
		return nil
	})
	return marked, err
}

// Forget removes a key from the bookmarks and the recent keys.
func (m *Store) Forget(db int, name string) error {
	return m.change(func(k *Keys) error {
		k.Bookmarks = slices.DeleteFunc(k.Bookmarks, matches(db, name))
		k.Recent = slices.DeleteFunc(k.Recent, matches(db, name))
		return nil
	})
}

func matches(db int, name string) func(Key) bool {
	return func(k Key) bool { return k.DB == db && string(k.Name) == name }
}

// change reads the file, applies do, and writes the file unless do returns an error.
func (m *Store) change(do func(*Keys) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	free, err := m.lock()
	if err != nil {
		return err
	}
	defer free()
	if err := m.read(); err != nil {
		return err
	}
	if err := do(&m.keys); err != nil {
		return err
	}
	return m.write()
}

// lockTimeout limits the wait for another process, which holds the lock only while it writes.
const lockTimeout = 5 * time.Second

// lock takes the lock that all goroutines and processes share for changes; free releases it.
func (m *Store) lock() (free func(), err error) {
	if m.path == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), lockTimeout)
	defer stop()
	path := filepath.Join(filepath.Dir(m.path), lockName)
	f, err := lockfile.Wait(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("waiting for %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}

// lockName names the file that is locked during a change to any target's keys. It is never removed:
// another process may be about to open it.
const lockName = ".lock"

// maxFileBytes bounds the size of a valid file.
const maxFileBytes = (MostRecent + MostBookmarks) * 2 * LongestName

func (m *Store) read() error {
	if m.path == "" {
		return nil
	}
	info, err := os.Stat(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		m.keys = Keys{}
		return nil
	}
	if err == nil && info.Size() > maxFileBytes {
		err = fmt.Errorf("%s is larger than it can be: remove it", m.path)
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(m.path)
	if err != nil {
		return err
	}
	var keys Keys
	if err := json.Unmarshal(text, &keys); err != nil {
		return fmt.Errorf("%s is damaged: remove it (%w)", m.path, err)
	}
	keys.Recent = keys.Recent[:min(len(keys.Recent), MostRecent)]
	keys.Bookmarks = keys.Bookmarks[:min(len(keys.Bookmarks), MostBookmarks)]
	smallsort.Sort(keys.Recent, func(a, b Key) int { return cmp.Compare(b.At, a.At) })
	m.keys = keys
	return nil
}

// write replaces the file: a crash leaves the old one.
func (m *Store) write() (err error) {
	if m.path == "" {
		return nil
	}
	text, err := json.Marshal(m.keys)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(m.path), ".keys-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), m.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
