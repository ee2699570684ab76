package indexes

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// Do runs a command and returns its reply.
type Do func(ctx context.Context, call [][]byte) (resp.Value, error)

// Index describes a search index.
type Index struct {
	Name     string
	Upstash  bool   // an index of SEARCH.CREATE
	Type     string // of its keys: HASH, JSON or STRING
	Prefixes []string
	Filter   string   // an expression that keys must satisfy
	Options  []string // such as NOOFFSETS
	Fields   []Field
	Docs     int64
	Bytes    int64
	Indexed  float64 // the part of the keys that is indexed, 1 for all
	Failures int64   // keys that could not be indexed
	Err      error   // why the rest is unknown; nil if it is known
}

// Field describes a field of an index.
type Field struct {
	Name    string
	Source  string // the field of the hash or the path of the document
	Type    string
	Options []string
}

// maxIndexes limits the indexes that All describes.
const maxIndexes = 1000

// All describes the indexes of a target, by name. A target without search has none.
func All(ctx context.Context, do Do) (all []Index, err error) {
	for _, list := range []string{"FT._LIST", "SEARCH.LISTINDEXES"} {
		v, err := ask(ctx, do, list)
		if refused(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range v.Elems {
			if list == "FT._LIST" {
				all = append(all, Index{Name: string(keyspace.Text(e))})
			} else {
				all = append(all, Index{Name: text(e, "name"), Upstash: true})
			}
		}
	}
	all = all[:min(len(all), maxIndexes)]
	for i := range all {
		if all[i], err = Describe(ctx, do, all[i].Name, all[i].Upstash); err != nil {
			return nil, err
		}
	}
	smallsort.Sort(all, func(a, b Index) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Describe describes an index. If the target refuses to, Err says why.
func Describe(ctx context.Context, do Do, name string, upstash bool) (Index, error) {
	ix := Index{Name: name, Upstash: upstash, Indexed: 1}
	command := "FT.INFO"
	if upstash {
		command = "SEARCH.DESCRIBE"
	}
	v, err := ask(ctx, do, command, name)
	if ix.Err = err; err != nil && !refused(err) {
		return ix, err
	}
	if err == nil && upstash {
		ix.readDescription(v)
		n, err := ask(ctx, do, "SEARCH.COUNT", name, "{}")
		if err == nil {
			ix.Docs, _ = keyspace.Integer(n)
			if left := number(text(v, "pendingUpdates")); left > 0 {
				ix.Indexed = 1 - left/max(left, float64(ix.Docs))
			}
		} else if !refused(err) {
			return ix, err
		}
	} else if err == nil {
		ix.readInfo(v)
	}
	return ix, nil
}

// readDescription reads the reply to SEARCH.DESCRIBE.
func (ix *Index) readDescription(v resp.Value) {
	ix.Type, ix.Prefixes = text(v, "type"), texts(member(v, "prefixes"))
	ix.Bytes = int64(number(text(v, "indexSize")))
	ix.Fields = FieldsOf(v)
}

// readInfo reads the reply to FT.INFO.
func (ix *Index) readInfo(v resp.Value) {
	definition := member(v, "index_definition")
	ix.Type, ix.Prefixes, ix.Filter = text(definition, "key_type"), texts(member(definition, "prefixes")), text(definition, "filter")
	ix.Options, ix.Fields = texts(member(v, "index_options")), FieldsOf(v)
	ix.Docs, ix.Failures = int64(number(text(v, "num_docs"))), int64(number(text(v, "hash_indexing_failures")))
	ix.Bytes = int64(number(text(v, "total_index_memory_sz_mb")) * (1 << 20))
	ix.Indexed = 1
	if percent := text(v, "percent_indexed"); percent != "" {
		ix.Indexed = number(percent)
	}
}

// FieldsOf returns the fields in a reply to FT.INFO or SEARCH.DESCRIBE, as in RESP2.
func FieldsOf(v resp.Value) (fields []Field) {
	for _, e := range member(v, "schema").Elems { // of SEARCH.DESCRIBE
		if words := texts(e); len(words) >= 2 {
			fields = append(fields, describedField(words))
		}
	}
	for _, e := range member(v, "attributes").Elems {
		fields = append(fields, attributesField(e.Elems))
	}
	return fields
}

// describedField reads a field of SEARCH.DESCRIBE: its name, its type and the options.
func describedField(words []string) Field {
	f := Field{Name: words[0], Source: words[0], Type: words[1]}
	for i := 2; i < len(words); i++ {
		if words[i] == "FROM" && i+1 < len(words) {
			i++
			f.Source = words[i]
			continue
		}
		f.Options = append(f.Options, words[i])
	}
	return f
}

// attributesField reads a field of FT.INFO: pairs and flags.
func attributesField(elems []resp.Value) (f Field) {
	for i := 0; i < len(elems); i++ {
		name := string(keyspace.Text(elems[i]))
		if isFlag[name] || i+1 == len(elems) {
			f.Options = append(f.Options, name)
			continue
		}
		i++
		switch value := string(keyspace.Text(elems[i])); {
		case name == "identifier":
			f.Source = value
		case name == "attribute":
			f.Name = value
		case name == "type":
			f.Type = value
		case name == "flags": // in RESP3
			f.Options = append(f.Options, texts(elems[i])...)
		case value == "" || name == "WEIGHT" && value == "1" || name == "SEPARATOR" && value == ",": // the defaults
		default:
			f.Options = append(f.Options, strings.ToUpper(name)+" "+value)
		}
	}
	return f
}

// isFlag names the attributes of FT.INFO without a value.
var isFlag = map[string]bool{
	"CASESENSITIVE": true, "SORTABLE": true, "UNF": true, "NOSTEM": true, "NOINDEX": true, "WITHSUFFIXTRIE": true, "INDEXEMPTY": true,
	"INDEXMISSING": true,
}

// Found is a page of keys that a query found.
type Found struct {
	Keys  []string
	Total int64 // keys of all pages
}

// Find returns up to n keys that a query finds, after the first offset keys: a query of FT.SEARCH, dialect 2, or a
// filter of SEARCH.QUERY. An empty query finds all.
func Find(ctx context.Context, do Do, index string, upstash bool, query string, offset, n int) (f Found, err error) {
	from, count := strconv.Itoa(offset), strconv.Itoa(n)
	if upstash {
		v, err := ask(ctx, do, "SEARCH.QUERY", index, cmp.Or(query, "{}"), "NOCONTENT", "LIMIT", count, "OFFSET", from)
		if err != nil {
			return f, err
		}
		for _, e := range v.Elems {
			if len(e.Elems) > 0 {
				f.Keys = append(f.Keys, string(keyspace.Text(e.Elems[0])))
			}
		}
		v, err = ask(ctx, do, "SEARCH.COUNT", index, cmp.Or(query, "{}"))
		f.Total, _ = keyspace.Integer(v)
		return f, err
	}
	v, err := ask(ctx, do, "FT.SEARCH", index, cmp.Or(query, "*"), "NOCONTENT", "LIMIT", from, count, "DIALECT", "2")
	if err != nil {
		return f, err
	}
	if results := member(v, "results"); len(results.Elems) > 0 || text(v, "total_results") != "" { // RESP3
		for _, e := range results.Elems {
			f.Keys = append(f.Keys, text(e, "id"))
		}
		f.Total = int64(number(text(v, "total_results")))
		return f, nil
	}
	if len(v.Elems) == 0 {
		return f, errors.New("unexpected reply to FT.SEARCH")
	}
	f.Total, _ = keyspace.Integer(v.Elems[0])
	f.Keys = texts(resp.MakeArray(v.Elems[1:]...))
	return f, nil
}

// ask returns the reply as of RESP2, and an error reply as an error.
func ask(ctx context.Context, do Do, words ...string) (resp.Value, error) {
	v, err := do(ctx, keyspace.Call(words...))
	if err == nil && v.IsError() {
		err = keyspace.Refusal(v.Str)
	}
	return resp.Downgrade(v), err
}

// refused reports whether err is an error reply.
func refused(err error) bool {
	var no keyspace.Refusal
	return errors.As(err, &no)
}

// member returns the value of a name in a flat map; an empty value if it is missing.
func member(v resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if string(keyspace.Text(v.Elems[i])) == name {
			return v.Elems[i+1]
		}
	}
	return resp.Value{}
}

func text(v resp.Value, name string) string { return string(keyspace.Text(member(v, name))) }

func texts(v resp.Value) (all []string) {
	for _, e := range v.Elems {
		all = append(all, string(keyspace.Text(e)))
	}
	return all
}

// number reads a number; 0 for another text.
func number(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != f {
		return 0
	}
	return f
}
