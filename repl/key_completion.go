package repl

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/internal/smallsort"
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

// searchTime limits the time until the first answer of a search for keys that contain a text. It leaves time to sort
// and draw within 20 ms.
const searchTime = 12 * time.Millisecond

// A search that continues sends no two answers within newsTime.
const newsTime = 100 * time.Millisecond

// keySearch collects the keys of one search.
type keySearch struct {
	asker  *asker
	ctx    context.Context
	q      question
	kind   string
	prefix []byte // of the keys to look at
	next   []byte // the key to continue at; nil at the end
	names  []string
	near   int // how many of names contain the text
	err    error
}

// indexedKeys finds keys by index. It keeps a search that is not complete for continueSearch.
func (a *asker) indexedKeys(ctx context.Context, q question) []foundItem {
	s := &keySearch{asker: a, ctx: ctx, q: q, kind: q.kind}
	if q.fuzzy {
		s.similar(q.prefix)
	} else {
		s.withPrefix([]byte(q.prefix))
	}
	items := s.items()
	if a.rest = nil; s.next != nil && !s.full() && s.err == nil {
		a.rest = s
	}
	return items
}

// items returns the best of the found keys.
func (s *keySearch) items() []foundItem {
	a := s.asker
	if s.err != nil {
		a.why = "Error: " + s.err.Error()
		return nil
	}
	items := make([]foundItem, len(s.names))
	for i, name := range s.names {
		items[i].value = name
	}
	items = s.q.sorted(items)
	a.partial = s.next != nil
	if len(items) > maxFound {
		a.partial, items = true, items[:maxFound]
	}
	s.names, s.near = s.names[:0], 0
	for _, item := range items {
		s.keep(item.value)
	}
	return items
}

// full reports whether enough keys contain the text.
func (s *keySearch) full() bool {
	if s.near >= maxFound {
		s.items() // without duplicates
	}
	return s.near >= maxFound
}

// keep adds a key that fits the question. Of the names with scattered characters it adds only the first ones.
func (s *keySearch) keep(name string) {
	switch s.q.likeness(name) {
	case begins, follows, contains:
		s.near++
	case scatters:
		if len(s.names)-s.near >= maxFound {
			return
		}
	default:
		return
	}
	s.names = append(s.names, name)
}

// continueSearch looks at the other keys in order while wanted returns true, and calls found with each answer.
func (a *asker) continueSearch(wanted func() bool, found func(answer)) {
	s, shown, told := a.rest, len(a.rest.names), a.clock()
	for s.next != nil && !s.full() && s.err == nil && wanted() {
		s.next = s.add(s.prefix, s.next, maxKeysSeen)
		if s.next == nil || len(s.names) == shown || a.clock().Sub(told) < newsTime {
			continue
		}
		found(answer{question: s.q, items: s.items(), partial: true, searching: true})
		shown, told = len(s.names), a.clock()
	}
	found(a.answerWith(s.q, s.items()))
}

// withPrefix adds the keys of the type with the prefix: the first ones in order; all of them
// if the type is rare; otherwise the first ones of each folder after that.
func (s *keySearch) withPrefix(prefix []byte) {
	s.prefix, s.next = prefix, s.add(prefix, prefix, maxKeysSeen)
	if s.next == nil || s.kind == "" || s.full() {
		return
	}
	found, all, err := s.asker.target.Keys.KeysOfType(s.ctx, prefix, s.kind, maxTypeSeeks)
	s.take(found, err)
	if all {
		s.next = nil
		return
	}
	s.folders(prefix, s.next, func(folder []byte) { s.add(folder, folder, maxFolderKeys) })
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
	s.next = s.add(nil, nil, maxKeysSeen)
	for s.next != nil && !s.full() && s.asker.clock().Sub(began) < searchTime {
		s.next = s.add(nil, s.next, maxKeysSeen)
	}
}

// separators end the parts of a key.
const separators = ":/.|"

// folders calls visit with the prefixes of keys up to a separator after prefix, beginning at
// from. It adds the keys without a separator.
func (s *keySearch) folders(prefix, from []byte, visit func(folder []byte)) {
	for range maxFolders {
		if s.err != nil || s.full() {
			return
		}
		found, next, err := s.asker.target.Keys.FirstKeys(s.ctx, prefix, from, "", 1)
		s.err = err
		if len(found.Elems) > 0 {
			key := found.Elems[0].Str
			if i := bytes.IndexAny(key[len(prefix):], separators); i >= 0 {
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
		s.keep(string(found.Elems[i].Str))
	}
}

// Likeness of a name to a typed text, best first.
const (
	begins   = iota // with the text
	follows         // the text follows a separator
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
		for _, separator := range separators {
			if strings.Contains(name, string(separator)+typed) {
				return follows
			}
		}
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
func (q question) accepts(name string) bool { return q.likeness(name) != unlike }

// likeness compares a name with the question: ignoring case if it is fuzzy.
func (q question) likeness(name string) int {
	switch {
	case q.fuzzy:
		return likeness(name, q.prefix)
	case strings.HasPrefix(name, q.prefix):
		return begins
	}
	return unlike
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
	smallsort.Sort(items, func(a, b foundItem) int {
		if q.fuzzy {
			if d := likeness(a.value, q.prefix) - likeness(b.value, q.prefix); d != 0 {
				return d
			}
		}
		return strings.Compare(a.value, b.value)
	})
	return slices.CompactFunc(items, func(a, b foundItem) bool { return a.value == b.value })
}
