package transfer

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// Libraries are the sources of libraries of functions. They belong to no database, and go with all
// keys, or not at all.
type Libraries [][]byte

// LibrarySink is a sink that takes libraries, too, before the first key.
type LibrarySink interface{ Libraries(all Libraries) error }

// ReadLibraries reads the libraries of a place, none of one that knows no functions. A reply that
// says no, such as NOPERM, is an error.
func ReadLibraries(ctx context.Context, s Session) (Libraries, error) {
	dump, err := s.Do(ctx, words("FUNCTION", "DUMP")...)
	switch {
	case err != nil:
		return nil, err
	case unknown(dump), dump.IsError() && strings.HasPrefix(strings.ToLower(string(dump.Str)), "err"):
		return nil, nil // unknown, or not here
	case dump.IsError():
		return nil, errors.New(string(dump.Str))
	}
	return rdb.RestoreFunctions(dump.Str)
}

// WriteLibraries loads libraries and returns how many. What is there as it is stays; what is there
// otherwise is replaced, skipped, or told to refused with the reply, as are those that cannot be
// loaded.
func WriteLibraries(ctx context.Context, s Session, libraries Libraries, existing Existing, refused func(reply resp.Value)) (loaded int, err error) {
	if len(libraries) == 0 {
		return 0, nil
	}
	there, err := ReadLibraries(ctx, s)
	if err != nil {
		return 0, err
	}
	for _, source := range libraries {
		if there.has(source) {
			continue
		}
		load := words("FUNCTION", "LOAD")
		if existing == Replace {
			load = words("FUNCTION", "LOAD", "REPLACE")
		}
		v, err := s.Do(ctx, append(load, source)...)
		switch {
		case err != nil:
			return loaded, err
		case !v.IsError():
			loaded++
		case existing != Skip || !strings.HasSuffix(string(v.Str), "already exists"):
			refused(v)
		}
	}
	return loaded, nil
}

// DiffLibraries calls found with each library that differs between a and b. With copied, b may have more.
func DiffLibraries(a, b Libraries, copied bool, found func(Difference)) {
	first, second := a.byName(), b.byName()
	for _, name := range slices.Sorted(maps.Keys(first)) {
		switch source, has := second[name]; {
		case !has:
			found(Difference{Library: name, What: OnlyInA})
		case source != first[name]:
			found(Difference{Library: name, What: "source"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(second)) {
		if _, has := first[name]; !has && !copied {
			found(Difference{Library: name, What: OnlyInB})
		}
	}
}

// byName returns the sources by the names that their first lines give.
func (l Libraries) byName() map[string]string {
	sources := map[string]string{}
	for _, source := range l {
		line, _, _ := strings.Cut(string(source), "\n")
		words, err := resp.SplitLine(line)
		if err != nil {
			words = nil
		}
		name := line // a library without a name cannot be loaded
		for _, word := range words {
			if len(word) > len("name=") && strings.EqualFold(string(word[:len("name=")]), "name=") {
				name = string(word[len("name="):])
			}
		}
		sources[name] = string(source)
	}
	return sources
}

func (l Libraries) has(source []byte) bool {
	for _, have := range l {
		if bytes.Equal(have, source) {
			return true
		}
	}
	return false
}
