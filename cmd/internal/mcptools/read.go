package mcptools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/peek"
	"github.com/meowdis/meowdis/keyspace/stats"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

const overviewHelp = `Describes the database: target, version, databases with keys, and, from a sample, types, name prefixes and TTLs.`

type overviewArgs struct {
	Database *int `json:"database,omitempty" jsonschema:"number of the database (default: the target's own)"`
}

// sampled limits the keys that the overview reads.
const sampled = 1000

func (t *tools) overview(ctx context.Context, in overviewArgs) (resp.Value, error) {
	if err := t.selectDB(ctx, in.Database); err != nil {
		return resp.Value{}, err
	}
	replies, err := t.Session.Pipeline(ctx, [][][]byte{keyspace.Call("INFO"), keyspace.Call("DBSIZE")})
	if err != nil {
		return resp.Value{}, err
	}
	facts := targets.InfoFacts(replies[0])
	var databases []resp.Value
	for n := range 64 {
		if said := facts[fmt.Sprint("db", n)]; said != "" {
			databases = append(databases, resp.MakeString(fmt.Sprint(n)), resp.MakeString(said))
		}
	}
	summary := &stats.Summary{Separator: []byte(":"), Top: 0}
	report := stats.Report{Keys: -1}
	if n, ok := keyspace.Integer(replies[1]); ok {
		report.Keys = n
	}
	walk := t.lister(keyspace.Described, "", "", sampled).Walk("0")
	page, err := walk.Next(ctx)
	for err == nil && summary.Total.Keys < sampled {
		summary.Add(page.Keys)
		if page.Next == "0" {
			break
		}
		page, err = walk.Next(ctx)
	}
	if err != nil {
		return resp.Value{}, err
	}
	const prefixes = 20
	note := ""
	if summary.Total.Keys < report.Keys {
		note = fmt.Sprintf("the sample has %d keys", summary.Total.Keys)
	}
	c := newTruncation(maxLimit)
	return answer("target", t.Name, "kind", t.Kind, "redis_version", facts["redis_version"], "database", resp.MakeInt(int64(t.Session.DB())),
		"may_change", resp.Value{Kind: resp.Bool, Int: int64(map[bool]int{true: 1}[t.Writes])},
		"keys", resp.MakeInt(report.Keys), "databases", resp.MakeMap(databases...),
		"sample", c.cut(report.JSON(summary, prefixes)), "note", note, "cut", c.description()), nil
}

func (t *tools) lister(d keyspace.Detail, pattern, typ string, page int) *keyspace.Lister {
	return &keyspace.Lister{Client: t.Reading, Detail: d, Match: pattern, Type: typ, Page: page}
}

const keysHelp = `Lists and searches keys, a page at a time, with type, TTL (ms) and size. pattern is a glob on names (cat:*), containing searches the beginning of values. If "next" is present, more keys may follow: call again with it as cursor.`

type keysArgs struct {
	Pattern    string `json:"pattern,omitempty" jsonschema:"glob that names must match, as in SCAN: user:*"`
	Type       string `json:"type,omitempty" jsonschema:"only keys of this type: string, hash, list, set, zset, stream, json, array, vectorset, bloom, cuckoo, cms, topk, tdigest, series, suggest"`
	Containing string `json:"containing,omitempty" jsonschema:"only keys with this text in the name, or in the first 64 KB or 100 elements of the value"`
	Cursor     string `json:"cursor,omitempty" jsonschema:"next of the previous page"`
	Limit      int    `json:"limit,omitempty" jsonschema:"approximate number of keys, 1 to 1000 (default 100)"`
	Database   *int   `json:"database,omitempty" jsonschema:"number of the database (default: the target's own)"`
}

// searching limits the time of one page, so that a search reports its progress.
const searching = 5 * time.Second

// typeNames lists the names of the types for an error message.
func typeNames() string {
	var names []string
	for _, t := range keytype.Types {
		names = append(names, cmp.Or(t.Label, t.Name))
	}
	return "the types are " + strings.Join(names, ", ")
}

func (t *tools) keys(ctx context.Context, in keysArgs) (resp.Value, error) {
	limit, err := limited(in.Limit)
	if err != nil {
		return resp.Value{}, err
	}
	typ, err := canonicalType(in.Type)
	if err != nil {
		return resp.Value{}, err
	}
	if err := t.selectDB(ctx, in.Database); err != nil {
		return resp.Value{}, err
	}
	began := time.Now()
	walk := t.lister(keyspace.Described, in.Pattern, typ, limit).Walk(cmp.Or(in.Cursor, "0"))
	var found []resp.Value
	next := ""
	for {
		page, err := walk.Next(ctx)
		if err != nil {
			return resp.Value{}, err
		}
		if found, err = t.appendMatching(ctx, found, page.Keys, in.Containing); err != nil {
			return resp.Value{}, err
		}
		if next = page.Next; next == "0" || len(found) >= limit || time.Since(began) > searching {
			break
		}
	}
	if next == "0" {
		next = ""
	}
	const facts = 10 // per key, at most
	c := newTruncation(len(found) * facts)
	list := c.cut(resp.MakeArray(found...))
	next, cut := c.nextPage(cmp.Or(in.Cursor, "0"), next)
	return answer("keys", list, "next", next, "cut", cut), nil
}

// canonicalType returns the canonical name of a type; "" for "".
func canonicalType(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	typ, known := keytype.Named(name)
	if !known {
		return "", fmt.Errorf("unknown type %q: %s", name, typeNames())
	}
	return typ.Name, nil
}

// appendMatching appends the keys whose values contain text to found. An empty text matches every key.
func (t *tools) appendMatching(ctx context.Context, found []resp.Value, keys []keyspace.Key, text string) ([]resp.Value, error) {
	for _, k := range keys {
		if text != "" {
			has, err := t.contains(ctx, k, []byte(text))
			if err != nil {
				return nil, err
			}
			if !has {
				continue
			}
		}
		found = append(found, stats.KeyJSON(k))
	}
	return found, nil
}

// contains reports whether text is in the key's name or in the beginning of its value.
func (t *tools) contains(ctx context.Context, k keyspace.Key, text []byte) (bool, error) {
	if bytes.Contains(k.Name, text) {
		return true, nil
	}
	elements, err := keyspace.First(ctx, t.Reading, k, 100)
	var refusal keyspace.Refusal
	if errors.As(err, &refusal) { // deleted since, or no permission
		return false, nil
	}
	for _, e := range elements {
		for _, part := range e {
			if bytes.Contains(part, text) {
				return true, nil
			}
		}
	}
	return false, err
}

const readHelp = `Reads a key: type, TTL, size, and its value or elements from the beginning, a page at a time. If "next" is present, call again with it as cursor.`

type readArgs struct {
	Key       string `json:"key,omitempty" jsonschema:"name of the key"`
	KeyBase64 string `json:"key_base64,omitempty" jsonschema:"name of a key that is not UTF-8, instead of key"`
	Cursor    string `json:"cursor,omitempty" jsonschema:"next of the previous page"`
	Limit     int    `json:"limit,omitempty" jsonschema:"number of elements, 1 to 1000 (default 100)"`
	Database  *int   `json:"database,omitempty" jsonschema:"number of the database (default: the target's own)"`
}

func (t *tools) read(ctx context.Context, in readArgs) (resp.Value, error) {
	limit, err := limited(in.Limit)
	if err != nil {
		return resp.Value{}, err
	}
	name := []byte(in.Key)
	switch {
	case in.Key != "" && in.KeyBase64 != "":
		return resp.Value{}, errors.New("give key or key_base64, not both")
	case in.Key == "" && in.KeyBase64 == "":
		return resp.Value{}, errors.New("give key, the name of a key (for the empty name use query)")
	}
	if in.KeyBase64 != "" {
		if name, err = base64.StdEncoding.DecodeString(in.KeyBase64); err != nil {
			return resp.Value{}, fmt.Errorf("key_base64: %w", err)
		}
	}
	if err := t.selectDB(ctx, in.Database); err != nil {
		return resp.Value{}, err
	}
	key, err := t.lister(keyspace.Described, "", "", 1).DescribeOne(ctx, name)
	if errors.Is(err, keyspace.ErrMissing) {
		return resp.Value{}, errors.New("no such key")
	}
	if err != nil {
		return resp.Value{}, err
	}
	of := keytype.Of(key.Type)
	if !of.IsKnown() {
		return answer("about", stats.KeyJSON(key), "cut", "cannot show values of this type: use query"), nil
	}
	if of.Parts == nil {
		limit = maxBytes
	}
	v, err := t.Reading.Do(ctx, of.PageAt(key.Name, in.Cursor, limit)...)
	if err == nil && v.IsError() {
		err = keyspace.Refusal(v.Str)
	}
	if err != nil {
		return resp.Value{}, err
	}
	elements, next, err := of.Elements(resp.Downgrade(v), in.Cursor, limit)
	if err != nil {
		return resp.Value{}, err
	}
	if of.Parts == nil {
		return value(key, elements, in.Cursor), nil
	}
	c := newTruncation(maxLimit)
	var shown []resp.Value
	for _, e := range elements {
		shown = append(shown, peek.ElementJSON(of.Parts, e))
	}
	list := c.cut(resp.MakeArray(shown...))
	next, cut := c.nextPage(in.Cursor, next)
	return answer("about", stats.KeyJSON(key), "elements", list, "next", next, "cut", cut), nil
}

// value returns a page of a string at a cursor, or the beginning of another value without elements.
func value(key keyspace.Key, elements [][][]byte, cursor string) resp.Value {
	c := newTruncation(maxLimit)
	shown, next := resp.Nil, ""
	if len(elements) > 0 {
		shown = c.cut(resp.MakeBulk(elements[0][0]))
	}
	if key.Type == keytype.String {
		at, _ := strconv.ParseInt(cursor, 10, 64)
		if page := whole(shown.Str); len(page) > 0 && at+int64(len(shown.Str)) < key.Count {
			shown.Str, next = page, strconv.FormatInt(at+int64(len(page)), 10)
		}
	}
	return answer("about", stats.KeyJSON(key), "value", shown, "next", next, "cut", c.description())
}
