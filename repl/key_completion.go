package repl

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/glob"
	"github.com/meowdis/meowdis/redis/resp"
)

// KeyIndex finds keys of the selected database without reading all of them.
type KeyIndex interface {
	// FirstKeys looks at up to look keys with the prefix, in order and beginning at from. It
	// returns a map of the keys of the type kind, "" for any, and the key to continue at; nil
	// at the end.
	FirstKeys(ctx context.Context, prefix, from []byte, kind string, look int) (found resp.Value, next []byte, err error)
	// KeysOfType looks at up to look keys of a type. It returns a map of the keys with the
	// prefix, and whether it looked at all keys of the type.
	KeysOfType(ctx context.Context, prefix []byte, kind string, look int) (found resp.Value, all bool, err error)
}

// Limits of one search in an index, so that it takes milliseconds however many keys exist.
const (
	maxKeysSeen   = 2000 // keys looked at in order
	maxTypeSeeks  = 1000 // keys of a type
	maxFolders    = 100  // prefixes such as user:
	maxFolderKeys = 20   // keys looked at below a prefix
)

// searchTime ends a search for keys that contain a text. It leaves time to sort and draw within 20 ms.
const searchTime = 12 * time.Millisecond

// keySearch collects the keys of one search.
type keySearch struct {
	asker *asker
	ctx   context.Context
	kind  string
	wants func(name string) bool
	names []string
	err   error
}

// indexedKeys finds keys by index.
func (a *asker) indexedKeys(ctx context.Context, q question) []foundItem {
	s := &keySearch{asker: a, ctx: ctx, kind: q.kind, wants: q.accepts}
	if q.fuzzy {
		s.similar(q.prefix)
	} else {
		s.withPrefix([]byte(q.prefix))
	}
	if s.err != nil {
		a.why = "Error: " + s.err.Error()
		return nil
	}
	items := make([]foundItem, len(s.names))
	for i, name := range s.names {
		items[i].value = name
	}
	items = q.sorted(items)
	if len(items) > maxFound {
		a.partial, items = true, items[:maxFound]
	}
	return items
}

// withPrefix adds the keys of the type with the prefix: the first ones in order; all of them
// if the type is rare; otherwise the first ones of each folder after that.
func (s *keySearch) withPrefix(prefix []byte) {
	next := s.add(prefix, prefix, maxKeysSeen)
	if s.asker.partial = next != nil; next == nil || s.kind == "" || len(s.names) >= maxFound {
		return
	}
	found, all, err := s.asker.target.Keys.KeysOfType(s.ctx, prefix, s.kind, maxTypeSeeks)
	s.take(found, err)
	if all {
		s.asker.partial = false
		return
	}
	s.folders(prefix, next, func(folder []byte) { s.add(folder, folder, maxFolderKeys) })
}

// similar adds keys that contain text: after a prefix such as user:, among the first keys below each prefix and of the
// type, and among all keys in order until the time is over.
func (s *keySearch) similar(text string) {
	began := s.asker.clock()
	s.folders(nil, nil, func(folder []byte) {
		below := append(bytes.Clone(folder), text...)
		s.add(below, below, maxFolderKeys)
		s.add(folder, folder, maxFolderKeys)
	})
	if s.err == nil && s.kind != "" {
		found, _, err := s.asker.target.Keys.KeysOfType(s.ctx, nil, s.kind, maxTypeSeeks)
		s.take(found, err)
	}
	next := s.add(nil, nil, maxKeysSeen)
	for next != nil && len(s.names) < maxFound && s.asker.clock().Sub(began) < searchTime {
		next = s.add(nil, next, maxKeysSeen)
	}
	s.asker.partial = next != nil
}

// folders calls visit with the prefixes of keys up to a separator after prefix, beginning at
// from. It adds the keys without a separator.
func (s *keySearch) folders(prefix, from []byte, visit func(folder []byte)) {
	for range maxFolders {
		if s.err != nil || len(s.names) >= maxFound {
			return
		}
		found, next, err := s.asker.target.Keys.FirstKeys(s.ctx, prefix, from, "", 1)
		s.err = err
		if len(found.Elems) > 0 {
			key := found.Elems[0].Str
			if i := bytes.IndexAny(key[len(prefix):], ":/.|"); i >= 0 {
				folder := key[:len(prefix)+i+1]
				visit(folder)
				next = glob.After(folder)
			} else if s.kind == "" || string(found.Elems[1].Str) == s.kind {
				s.take(found, nil)
			}
		}
		if from = next; from == nil {
			return
		}
	}
}

// add adds the keys of the type among the next ones, and returns the key to continue at.
func (s *keySearch) add(prefix, from []byte, look int) (next []byte) {
	if s.err != nil {
		return nil
	}
	found, next, err := s.asker.target.Keys.FirstKeys(s.ctx, prefix, from, s.kind, look)
	s.take(found, err)
	return next
}

func (s *keySearch) take(found resp.Value, err error) {
	s.err = err
	for i := 0; i+1 < len(found.Elems); i += 2 {
		if name := string(found.Elems[i].Str); s.wants(name) {
			s.names = append(s.names, name)
		}
	}
}

// Likeness of a name to a typed text, best first.
const (
	begins   = iota // with the text
	contains        // the text
	scatters        // its characters, in order
	unlike
)

// likeness compares a name with a typed text, ignoring case.
func likeness(name, typed string) int {
	name, typed = strings.ToLower(name), strings.ToLower(typed)
	switch {
	case strings.HasPrefix(name, typed):
		return begins
	case strings.Contains(name, typed):
		return contains
	}
	for _, r := range typed {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return unlike
		}
		name = name[i+len(string(r)):]
	}
	return scatters
}

// mayBeFuzzy reports whether names that only contain the text are worth a search.
func (q question) mayBeFuzzy() bool {
	return q.prefix != "" && (q.about == askKeys || q.about == askElements)
}

// accepts reports whether a name fits the question.
func (q question) accepts(name string) bool {
	if q.fuzzy {
		return likeness(name, q.prefix) != unlike
	}
	return strings.HasPrefix(name, q.prefix)
}

// pattern returns the glob pattern of the names that fit the question.
func (q question) pattern() string {
	escape := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)
	if !q.fuzzy {
		return escape.Replace(q.prefix) + "*"
	}
	pattern := "*"
	for _, r := range q.prefix {
		switch upper, lower := strings.ToUpper(string(r)), strings.ToLower(string(r)); {
		case len(upper) == 1 && upper != lower:
			pattern += "[" + upper + lower + "]*"
		default:
			pattern += escape.Replace(string(r)) + "*"
		}
	}
	return pattern
}

// sorted sorts items by likeness and name, without duplicates.
func (q question) sorted(items []foundItem) []foundItem {
	slices.SortFunc(items, func(a, b foundItem) int {
		if q.fuzzy {
			if d := likeness(a.value, q.prefix) - likeness(b.value, q.prefix); d != 0 {
				return d
			}
		}
		return strings.Compare(a.value, b.value)
	})
	return slices.CompactFunc(items, func(a, b foundItem) bool { return a.value == b.value })
}
