//go:build !wasip1 || search

package translator

import (
	"bytes"
	"slices"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

const (
	sqlAllAliases = `SELECT a.alias, i.name, 0 FROM search_aliases a CROSS JOIN search_indexes i ON i.id = a.index_id
		UNION ALL SELECT alias, index_id, 1 FROM search_aliases WHERE typeof(index_id) = 'blob' ORDER BY 1`
	sqlAllWords = `SELECT dictionary, term FROM search_dictionaries ORDER BY dictionary, term`
)

// dumpedTerms limits the terms of a command that FT._DUMP returns.
const dumpedTerms = 1000

// ftDump translates FT._DUMP, a command of meowdis: it returns the commands that create the indexes, their synonyms and
// aliases, and the dictionaries. Equal definitions have equal commands.
func ftDump(*Call) Plan {
	return read(func(r *store.Result) resp.Value {
		indexes := decodeIndexes(r.Rows[0], r.Rows[1], r.Work)
		slices.SortFunc(indexes, func(a, b *searchIndex) int { return bytes.Compare(a.name, b.name) })
		d := &searchDump{work: r.Work, reply: resp.EmptyArray}
		for _, ix := range indexes {
			if u := ix.schema.Upstash; u != nil {
				d.add(dumpStrings("SEARCH.CREATE", ix.name, u.Words()))
				continue
			}
			d.add(append(dumpWords("FT.CREATE", ix.name), ix.schema.Words()...))
			d.synonyms(ix)
		}
		for _, row := range r.Rows[2] {
			name := "FT.ALIASADD"
			if row[2].Int() != 0 {
				name = "SEARCH.ALIASADD"
			}
			d.add(dumpWords(name, row[0].Bytes(), row[1].Bytes()))
		}
		var command [][]byte
		for _, row := range r.Rows[3] {
			dictionary, term := row[0].Bytes(), row[1].Bytes()
			if command == nil || !bytes.Equal(command[1], dictionary) || len(command) == 2+dumpedTerms {
				d.add(command)
				command = dumpWords("FT.DICTADD", dictionary)
			}
			command = append(command, term)
		}
		d.add(command)
		return d.reply
	}, store.Stmt{SQL: sqlIndexes}, store.Stmt{SQL: sqlAllSynonyms}, store.Stmt{SQL: sqlAllAliases}, store.Stmt{SQL: sqlAllWords})
}

// searchDump builds the reply of FT._DUMP.
type searchDump struct {
	work  *store.Work
	reply resp.Value
}

func dumpWords(name string, words ...[]byte) [][]byte {
	return append([][]byte{[]byte(name)}, words...)
}

func dumpStrings(name string, index []byte, words []string) [][]byte {
	command := dumpWords(name, index)
	for _, word := range words {
		command = append(command, []byte(word))
	}
	return command
}

// add adds a command, unless it is nil.
func (d *searchDump) add(command [][]byte) {
	if command == nil {
		return
	}
	v := resp.EmptyArray
	for _, word := range command {
		d.work.Grow(int64(len(word) + 64))
		v.Elems = append(v.Elems, resp.MakeBulk(word))
	}
	d.reply.Elems = append(d.reply.Elems, v)
}

// synonyms adds the groups of an index in order.
func (d *searchDump) synonyms(ix *searchIndex) {
	groups := map[string][][]byte{}
	for term, of := range ix.synonyms {
		for _, group := range of {
			d.work.Grow(64)
			groups[group] = append(groups[group], []byte(term))
		}
	}
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		slices.SortFunc(groups[name], bytes.Compare)
		for terms := range slices.Chunk(groups[name], dumpedTerms) {
			d.add(append(dumpWords("FT.SYNUPDATE", ix.name, []byte(name)), terms...))
		}
	}
}
