package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// Index holds the commands that create something of search: an index with its synonyms, an alias, or a dictionary.
// Equal definitions have equal commands.
type Index struct {
	What     string // IndexKind, AliasKind or DictionaryKind
	Name     string
	Commands [][][]byte
}

// Values of Index.What.
const (
	IndexKind      = "index"
	AliasKind      = "alias"
	DictionaryKind = "dictionary"
)

// Indexes holds definitions of search in the order of their creation.
type Indexes []Index

// String names the definition, as in `index "products"`.
func (x *Index) String() string { return fmt.Sprintf("%s %q", x.What, x.Name) }

// kinds maps commands to Index.What. Their first argument is the name.
var kinds = map[string]string{
	"FT.CREATE": IndexKind, "FT.SYNUPDATE": IndexKind, "FT.ALIASADD": AliasKind, "FT.DICTADD": DictionaryKind,
	"SEARCH.CREATE": IndexKind, "SEARCH.ALIASADD": AliasKind,
}

// drops maps commands to the commands that remove the same definition.
var drops = map[string]string{"FT.CREATE": "FT.DROPINDEX", "FT.ALIASADD": "FT.ALIASDEL", "SEARCH.CREATE": "SEARCH.DROP", "SEARCH.ALIASADD": "SEARCH.ALIASDEL"}

// Add adds a command. It reports whether the command defines something of search.
func (all *Indexes) Add(command [][]byte) bool {
	if len(command) < 3 {
		return false
	}
	what, ok := kinds[strings.ToUpper(string(command[0]))]
	if !ok {
		return false
	}
	name := string(command[1])
	if n := len(*all) - 1; n >= 0 && (*all)[n].What == what && (*all)[n].Name == name {
		(*all)[n].Commands = append((*all)[n].Commands, command)
	} else {
		*all = append(*all, Index{what, name, [][][]byte{command}})
	}
	return true
}

// Commands returns the commands of all definitions.
func (all Indexes) Commands() (commands [][][]byte) {
	for _, x := range all {
		commands = append(commands, x.Commands...)
	}
	return commands
}

// find returns the definition of the same thing, or nil.
func (all Indexes) find(x *Index) *Index {
	for i := range all {
		if all[i].What == x.What && all[i].Name == x.Name {
			return &all[i]
		}
	}
	return nil
}

// Removal returns the commands that remove the definition.
func (x *Index) Removal() (removal [][][]byte) {
	if name := drops[strings.ToUpper(string(x.Commands[0][0]))]; name != "" {
		return [][][]byte{call(name, []byte(x.Name))}
	}
	for _, command := range x.Commands {
		if strings.EqualFold(string(command[0]), "FT.DICTADD") {
			removal = append(removal, call("FT.DICTDEL", command[1:]...))
		}
	}
	return removal
}

// same reports whether two definitions are equal, as far as FT.INFO shows them.
func (x *Index) same(y *Index) bool {
	return slices.EqualFunc(x.Commands, y.Commands, func(a, b [][]byte) bool {
		return slices.EqualFunc(shownWords(a), shownWords(b), bytes.Equal)
	})
}

// notShown lists the options of FT.CREATE that FT.INFO of Redis leaves out.
var notShown = []string{"PHONETIC", "TEMPORARY", "INITIAL_CAP", "BLOCK_SIZE", "EPSILON", "SEARCH_WINDOW_SIZE", "TRAINING_THRESHOLD", "REDUCE"}

// shownWords returns the words of a command without the options that FT.INFO leaves out, and without the number of a
// vector's options.
func shownWords(command [][]byte) (words [][]byte) {
	if !strings.EqualFold(string(command[0]), "FT.CREATE") {
		return command
	}
	for i := 0; i < len(command); i++ {
		word := string(command[i])
		switch {
		case slices.Contains(notShown, word):
			i++
		case word == "VECTOR" && i+2 < len(command):
			words = append(words, command[i], command[i+1])
			i += 2
		default:
			words = append(words, command[i])
		}
	}
	return words
}

// ReadIndexes reads the definitions of search of a session, or none if it has no search. A refusal such as NOPERM is an
// error. incomplete, unless it is empty, names definitions that the server does not show.
func ReadIndexes(ctx context.Context, s keyspace.Session) (all Indexes, incomplete string, err error) {
	if s.DB() != 0 { // search knows the keys of database 0
		defer func(db int) { err = errors.Join(err, selectDB(ctx, s, db)) }(s.DB())
		if err := selectDB(ctx, s, 0); err != nil {
			return nil, "", err
		}
	}
	dump, err := s.Do(ctx, words("FT._DUMP")...)
	switch {
	case err != nil:
		return nil, "", err
	case unknown(dump):
		return readShown(ctx, s)
	case dump.IsError():
		return nil, "", Refusal(dump.Str)
	}
	for _, command := range dump.Elems {
		all.Add(texts(command.Elems))
	}
	return all, "", nil
}

// readShown reads definitions from FT.INFO and other commands of Redis.
func readShown(ctx context.Context, s keyspace.Session) (all Indexes, incomplete string, err error) {
	list, err := s.Do(ctx, words("FT._LIST")...)
	if err != nil {
		return nil, "", err
	}
	if unknown(list) {
		all, err = readUpstash(ctx, s)
		return all, "", err
	}
	if list.IsError() {
		return nil, "", Refusal(list.Str)
	}
	names := texts(list.Elems)
	slices.SortFunc(names, bytes.Compare)
	var aliases Indexes
	noAliases := false
	for _, name := range names {
		replies, err := s.Pipeline(ctx, [][][]byte{call("FT.INFO", name), call("FT.SYNDUMP", name), call("FT.ALIASLIST", name)})
		if err != nil {
			return nil, "", err
		}
		for _, v := range replies[:2] {
			if err := refused(v); err != nil {
				return nil, "", fmt.Errorf("index %q: %w", name, err)
			}
		}
		definition, err := shownDefinition(replies[0])
		if err != nil {
			return nil, "", fmt.Errorf("index %q: %w", name, err)
		}
		all.Add(append(call("FT.CREATE", name), definition...))
		addSynonyms(&all, name, replies[1])
		if replies[2].IsError() {
			noAliases = true
			continue
		}
		for _, alias := range texts(replies[2].Elems) {
			aliases.Add(call("FT.ALIASADD", alias, name))
		}
	}
	smallsort.Sort(aliases, func(a, b Index) int { return strings.Compare(a.Name, b.Name) })
	if incomplete = "dictionaries"; noAliases {
		incomplete = "aliases and dictionaries"
	}
	if len(names) == 0 {
		incomplete = ""
	}
	return append(all, aliases...), incomplete, nil
}

// readUpstash reads the definitions of Upstash's search, or none if the server has no search.
func readUpstash(ctx context.Context, s keyspace.Session) (all Indexes, err error) {
	list, err := s.Do(ctx, words("SEARCH.LISTINDEXES")...)
	if err != nil || unknown(list) {
		return nil, err
	}
	if list.IsError() {
		return nil, Refusal(list.Str)
	}
	for _, listed := range list.Elems {
		name, _ := fieldOf(listed, "name")
		d, err := s.Do(ctx, call("SEARCH.DESCRIBE", text(name))...)
		if err == nil {
			err = refused(d)
		}
		if err != nil {
			return nil, err
		}
		of := func(name string) resp.Value { v, _ := fieldOf(d, name); return v }
		prefixes, fields := texts(of("prefixes").Elems), of("schema").Elems
		command := call("SEARCH.CREATE", text(name), []byte("ON"), text(of("type")), []byte("PREFIX"), decimal(int64(len(prefixes))))
		command = append(append(command, prefixes...), []byte("LANGUAGE"), text(of("language")), []byte("SCHEMA"))
		for _, f := range fields {
			command = append(command, texts(f.Elems)...)
		}
		all.Add(command)
	}
	aliases, err := s.Do(ctx, words("SEARCH.LISTALIASES")...)
	if err == nil {
		err = refused(aliases)
	}
	if err != nil {
		return nil, err
	}
	for _, pair := range aliases.Elems {
		all.Add(append(words("SEARCH.ALIASADD"), texts(pair.Elems)...))
	}
	return all, nil
}

// addSynonyms adds the groups in a reply of FT.SYNDUMP.
func addSynonyms(all *Indexes, name []byte, dump resp.Value) {
	groups := map[string][][]byte{}
	var order []string
	for i := 0; i+1 < len(dump.Elems); i += 2 {
		for _, group := range texts(dump.Elems[i+1].Elems) {
			if groups[string(group)] == nil {
				order = append(order, string(group))
			}
			groups[string(group)] = append(groups[string(group)], text(dump.Elems[i]))
		}
	}
	slices.Sort(order)
	for _, group := range order {
		slices.SortFunc(groups[group], bytes.Compare)
		all.Add(append(call("FT.SYNUPDATE", name, []byte(group)), groups[group]...))
	}
}

// indexWriter writes definitions of search to a session.
type indexWriter struct {
	ctx      context.Context
	s        keyspace.Session
	existing Existing
	refused  func(x *Index, why string)
	there    Indexes
	left     map[string]bool // names of indexes that the server refused
}

// WriteIndexes creates definitions and returns their number. It skips equal ones. It replaces or skips a different
// existing one, or calls refused, depending on existing. It also calls refused for each one that the server refuses.
func WriteIndexes(ctx context.Context, s keyspace.Session, all Indexes, existing Existing, refused func(x *Index, why string)) (made int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	if s.DB() != 0 {
		defer func(db int) { err = errors.Join(err, selectDB(ctx, s, db)) }(s.DB())
		if err := selectDB(ctx, s, 0); err != nil {
			return 0, err
		}
	}
	w := &indexWriter{ctx: ctx, s: s, existing: existing, refused: refused, left: map[string]bool{}}
	if w.there, _, err = ReadIndexes(ctx, s); err != nil {
		return 0, err
	}
	for i := range all {
		did, err := w.write(&all[i])
		if err != nil {
			return made, err
		}
		if did {
			made++
		}
	}
	return made, nil
}

// write writes a definition, and reports whether that was necessary and possible.
func (w *indexWriter) write(x *Index) (did bool, err error) {
	there := w.there.find(x)
	switch {
	case x.What == AliasKind && w.left[string(x.Commands[0][2])]:
		w.refused(x, "its index was left out")
		return false, nil
	case there == nil:
		why, err := w.run(x.Commands)
		if why != "" {
			w.left[x.Name] = w.left[x.Name] || x.What == IndexKind
			w.refused(x, why)
		}
		return why == "" && err == nil, err
	case there.same(x), w.existing == Skip:
		return false, nil
	case w.existing != Replace:
		w.refused(x, "another one of that name exists")
		return false, nil
	}
	return w.replace(x, there)
}

// replace replaces an existing definition. If the server refuses the new one, it creates the old one again.
func (w *indexWriter) replace(x, there *Index) (did bool, err error) {
	why, err := w.run(slices.Concat(there.Removal(), x.Commands))
	if err == nil && why != "" {
		w.refused(x, why)
		_, err = w.run(there.Commands)
	}
	if err == nil && x.What == IndexKind {
		err = w.restoreAliases(x.Name)
	}
	return err == nil && why == "", err
}

// restoreAliases creates the aliases again that were dropped with an index of FT.CREATE.
func (w *indexWriter) restoreAliases(index string) error {
	var kept Indexes
	for _, a := range w.there {
		if a.What == AliasKind && string(a.Commands[0][0]) == "FT.ALIASADD" && string(a.Commands[0][2]) == index {
			why, err := w.run(a.Commands)
			if err != nil {
				return err
			}
			if why != "" {
				continue
			}
		}
		kept = append(kept, a)
	}
	w.there = kept
	return nil
}

// run runs commands until one is refused, and returns why.
func (w *indexWriter) run(commands [][][]byte) (why string, err error) {
	for _, command := range commands {
		v, err := w.s.Do(w.ctx, command...)
		if err != nil {
			return "", err
		}
		if unknown(v) {
			return "the target has no command " + strings.ToUpper(string(command[0])), nil
		}
		if v.IsError() {
			return string(v.Str), nil
		}
	}
	return "", nil
}

// DiffIndexes calls found for each definition that differs between a and b. If copied is set, b may have more.
func DiffIndexes(a, b Indexes, copied bool, found func(Difference)) {
	for i := range a {
		x := &a[i]
		switch y := b.find(x); {
		case y == nil:
			found(Difference{Index: x, What: OnlyInA})
		case !x.same(y):
			found(Difference{Index: x, What: "definition"})
		}
	}
	for i := range b {
		if x := &b[i]; !copied && a.find(x) == nil {
			found(Difference{Index: x, What: OnlyInB})
		}
	}
}
