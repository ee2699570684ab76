package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/indexes"
	"github.com/meowdis/meowdis/redis/resp"
)

const searchHelp = `Finds keys with an index of FT.CREATE, a page at a time. query is in the language of FT.SEARCH, dialect 2: words, "a phrase", @field:word, @tag:{a|b}, @number:[10 50], -word, a | b, prefix*. Without index it lists the indexes and their fields. If "next" is present, call again with it as cursor.`

type searchArgs struct {
	Index  string   `json:"index,omitempty" jsonschema:"name or alias of the index; without it, the indexes are listed"`
	Query  string   `json:"query,omitempty" jsonschema:"query (default: *, all documents)"`
	Fields []string `json:"fields,omitempty" jsonschema:"only these fields of the documents (default: all)"`
	SortBy string   `json:"sort_by,omitempty" jsonschema:"field to sort by (default: the score)"`
	Cursor string   `json:"cursor,omitempty" jsonschema:"next of the previous page"`
	Limit  int      `json:"limit,omitempty" jsonschema:"number of documents, 1 to 1000 (default 10)"`
}

// documents limits the documents of a page without a limit.
const documents = 10

func (t *tools) search(ctx context.Context, in searchArgs) (resp.Value, error) {
	limit, err := limited(cmp.Or(in.Limit, documents))
	if err != nil {
		return resp.Value{}, err
	}
	database := 0 // search knows the keys of this one only
	if err := t.selectDB(ctx, &database); err != nil {
		return resp.Value{}, err
	}
	if in.Index == "" {
		if in.Query != "" {
			return resp.Value{}, errors.New("give index, the name of an index")
		}
		return t.indexes(ctx)
	}
	offset := 0
	if in.Cursor != "" {
		if offset, err = strconv.Atoi(in.Cursor); err != nil || offset < 0 {
			return resp.Value{}, fmt.Errorf("invalid cursor %q: use next of the previous page", in.Cursor)
		}
	}
	call := keyspace.Call("FT.SEARCH", in.Index, cmp.Or(in.Query, "*"), "LIMIT", strconv.Itoa(offset), strconv.Itoa(limit), "DIALECT", "2")
	if len(in.Fields) > 0 {
		call = append(append(call, keyspace.Call("RETURN", strconv.Itoa(len(in.Fields)))...), keyspace.Call(in.Fields...)...)
	}
	if in.SortBy != "" {
		call = append(call, keyspace.Call("SORTBY", in.SortBy)...)
	}
	v, err := t.replyOf(ctx, call)
	if err != nil {
		return resp.Value{}, err
	}
	if len(v.Elems) == 0 {
		return resp.Value{}, errors.New("unexpected reply to FT.SEARCH")
	}
	var found []resp.Value
	for i := 1; i < len(v.Elems); i += 2 {
		about := []resp.Value{resp.MakeString("key"), v.Elems[i]}
		if i+1 < len(v.Elems) && !v.Elems[i+1].IsNull() {
			about = append(about, resp.MakeString("fields"), resp.MakeMap(v.Elems[i+1].Elems...))
		}
		found = append(found, resp.MakeMap(about...))
	}
	c := newTruncation(maxLimit)
	list := c.cut(resp.MakeArray(found...))
	next := ""
	if total, ok := keyspace.Integer(v.Elems[0]); ok && len(list.Elems) > 0 && int64(offset+len(list.Elems)) < total {
		next = strconv.Itoa(offset + len(list.Elems))
	}
	return answer("total", v.Elems[0], "documents", list, "next", next, "cut", c.description()), nil
}

// replyOf returns the reply as of RESP2, and an error reply as an error.
func (t *tools) replyOf(ctx context.Context, call [][]byte) (resp.Value, error) {
	v, err := t.Reading.Do(ctx, call...)
	if err == nil && v.IsError() {
		err = keyspace.Refusal(v.Str)
	}
	return resp.Downgrade(v), err
}

// indexes lists the indexes with their fields.
func (t *tools) indexes(ctx context.Context) (resp.Value, error) {
	names, err := t.replyOf(ctx, keyspace.Call("FT._LIST"))
	if err != nil {
		return resp.Value{}, err
	}
	var all []resp.Value
	for _, name := range names.Elems[:min(len(names.Elems), maxLimit)] {
		info, err := t.replyOf(ctx, keyspace.Call("FT.INFO", string(keyspace.Text(name))))
		var refusal keyspace.Refusal
		if errors.As(err, &refusal) { // dropped since, or no permission
			all = append(all, resp.MakeMap(resp.MakeString("name"), name, resp.MakeString("error"), resp.MakeString(refusal.Error())))
			continue
		}
		if err != nil {
			return resp.Value{}, err
		}
		about := []resp.Value{resp.MakeString("name"), name}
		for i := 0; i+1 < len(info.Elems); i += 2 {
			switch value := info.Elems[i+1]; string(keyspace.Text(info.Elems[i])) {
			case "index_definition":
				about = append(about, resp.MakeString("definition"), resp.MakeMap(value.Elems...))
			case "attributes":
				about = append(about, resp.MakeString("fields"), typesOf(indexes.FieldsOf(info)))
			case "num_docs", "percent_indexed":
				about = append(about, info.Elems[i], value)
			}
		}
		all = append(all, resp.MakeMap(about...))
	}
	c := newTruncation(maxLimit)
	return answer("indexes", c.cut(resp.MakeArray(all...)), "cut", c.description()), nil
}

// typesOf maps the names of fields to their types.
func typesOf(fields []indexes.Field) resp.Value {
	types := resp.EmptyMap
	for _, f := range fields {
		types.Elems = append(types.Elems, resp.MakeString(f.Name), resp.MakeString(f.Type))
	}
	return types
}
