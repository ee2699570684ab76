package transfer

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// Libraries holds the sources of function libraries. They belong to no database, so they are
// moved with all keys or not at all.
type Libraries [][]byte

// ReadLibraries reads the function libraries of a session, or none if it does not support
// functions. A refusal such as NOPERM is an error.
func ReadLibraries(ctx context.Context, s keyspace.Session) (Libraries, error) {
	dump, err := s.Do(ctx, words("FUNCTION", "DUMP")...)
	switch {
	case err != nil:
		return nil, err
	case unknown(dump), dump.IsError() && strings.HasPrefix(strings.ToLower(string(dump.Str)), "err"):
		return nil, nil // unknown command, or not available
	case dump.IsError():
		return nil, errors.New(string(dump.Str))
	}
	return rdb.RestoreFunctions(dump.Str)
}

// WriteLibraries loads libraries and returns their number. It skips identical libraries. It
// replaces or skips a different existing library, or calls refused with the reply, depending on
// existing. It also calls refused for libraries that fail to load.
func WriteLibraries(ctx context.Context, s keyspace.Session, libraries Libraries, existing Existing, refused func(reply resp.Value)) (loaded int, err error) {
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

// DiffLibraries calls found for each library that differs between a and b. If copied is set, b
// may have additional libraries.
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

// byName maps the names in the first lines of the sources to the sources.
func (l Libraries) byName() map[string]string {
	sources := map[string]string{}
	for _, source := range l {
		line, _, _ := strings.Cut(string(source), "\n")
		words, err := resp.SplitLine(line)
		if err != nil {
			words = nil
		}
		name := line // a library without a name cannot load
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
