package repl

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

func newShop(t *testing.T) keyspace.Session {
	return newSession(t,
		"FT.CREATE products PREFIX 1 product: SCHEMA name TEXT kind TAG price NUMERIC place GEO v VECTOR FLAT 6 TYPE FLOAT32 DIM 2 DISTANCE_METRIC COSINE",
		"FT.CREATE docs ON JSON PREFIX 1 doc: SCHEMA $.title AS title TEXT", "FT.ALIASADD goods products",
		"HSET product:1 name shoes kind shoe price 50", `HSET product:2 name hat kind "winter hat" price 15`, "HSET product:3 kind x-large",
		"SEARCH.CREATE shop ON JSON PREFIX 1 item: SCHEMA title TEXT price F64 FAST maker.name KEYWORD", "SEARCH.ALIASADD bikes shop",
		"FT.SUGADD names red 1", "BF.ADD bloom x", "CF.ADD cuckoo x", "CMS.INITBYDIM counts 10 10", "TOPK.RESERVE top 3", "TDIGEST.CREATE digest",
		"TS.ADD series 1 1", "SET text 1")
}

// TestCompletionOfSearch checks what TAB offers for indexes, fields and the ends of queries.
func TestCompletionOfSearch(t *testing.T) {
	s := newShop(t)
	operators := []string{`"@title:`, `"*`, `"-`, `"~`, `"|`, `"(`, `"\"`, `"%`, `"=>[KNN `, `"=>{`}
	for line, want := range map[string][]string{
		"FT.SEARCH ":                                               {"docs", "goods", "products"},
		"FT.AGGREGATE p":                                           {"products"},
		"FT.INFO go":                                               {"goods"},
		"FT.DROPINDEX d":                                           {"docs"},
		"FT.ALIASADD new ":                                         {"docs", "goods", "products"},
		"FT.ALIASDEL ":                                             {"goods"},
		"FT.CURSOR READ p":                                         {"products"},
		"FT.PROFILE p":                                             {"products"},
		"FT.CREATE ":                                               nil,
		"SEARCH.QUERY ":                                            {"bikes", "shop"},
		"SEARCH.DROP s":                                            {"shop"},
		"SEARCH.ALIASDEL ":                                         {"bikes"},
		"SEARCH.CREATE ":                                           nil,
		"FT.SEARCH products @p":                                    {"@price:[", "@place:["},
		"FT.SEARCH goods @na":                                      {"@name:"},
		"FT.SEARCH docs ":                                          operators,
		`FT.SEARCH products "shoe @pri`:                            {"@price:["},
		`FT.SEARCH products "(shoe|@pri`:                           {"@price:["},
		`FT.SEARCH products '-@pri`:                                {"@price:["},
		`FT.SEARCH products "@name|ki`:                             nil, // not text
		`FT.SEARCH products "@kind:`:                               {"{"},
		`FT.SEARCH products "@price:`:                              {"["},
		`FT.SEARCH products "@price:[`:                             {"-inf ", "("},
		`FT.SEARCH products "@price:[10 `:                          nil,
		`FT.SEARCH products "@kind:{`:                              {"shoe", "winter hat", `x\\-large`},
		`FT.SEARCH products "@kind:{shoe | w`:                      {"winter hat"},
		`FT.SEARCH products "@kind:{x\\-l`:                         {`x\\-large`},
		`FT.SEARCH products '@kind:{x`:                             {`x\-large`},
		"FT.SEARCH products @kind:{W":                              {`"@kind:{winter hat`},
		`FT.SEARCH products "@kind:{shoe} @pr`:                     {"@price:["},
		`FT.SEARCH products "*=>[`:                                 {"KNN "},
		`FT.SEARCH products "*=>[KNN 5 @`:                          {"@v"},
		`FT.SEARCH products "red=>{$w`:                             {"$weight: "},
		`FT.SEARCH products "a phrase`:                             nil,
		`FT.SEARCH products "\"a @`:                                nil,
		`FT.SEARCH products "done"`:                                nil,
		"FT.SEARCH products * RETURN 1 na":                         {"name"},
		"FT.SEARCH products * SORTBY pr":                           {"price"},
		"FT.SEARCH products * FILTER ":                             {"price"},
		"FT.SEARCH products * GEOFILTER ":                          {"place"},
		"FT.SEARCH products * INFIELDS 1 ":                         {"name"},
		"FT.SEARCH products * SCORER TF":                           {"TFIDF", "TFIDF.DOCNORM"},
		"FT.SEARCH products * LANGUAGE ger":                        {"german"},
		"FT.TAGVALS products ":                                     {"kind"},
		"FT.AGGREGATE products * LOAD 1 @p":                        {"@price", "@place"},
		"FT.AGGREGATE products * GROUPBY 1 @k":                     {"@kind"},
		"FT.AGGREGATE products * GROUPBY 1 @kind REDUCE q":         {"quantile"},
		"FT.AGGREGATE products * GROUPBY 1 @kind REDUCE SUM 1 @pr": {"@price"},
		"FT.AGGREGATE products * GROUPBY 1 @kind REDUCE COUNT 0 AS total SORTBY 2 @tot": {"@total"},
		`FT.AGGREGATE products * APPLY "@price * @pl`:                                   {"@place"},
		`FT.AGGREGATE products * FILTER "@price > 5`:                                    nil,
		"FT.HYBRID products SEARCH * VSIM ":                                             {"@v"},
		"FT.SEARCH nope @":                                                              nil,
		"SEARCH.QUERY shop ":                                                            {`'{`, `'{}`},
		"SEARCH.QUERY shop '{":                                                          {`"title":`, `"price":`, `"maker.name":`, `"$and":`, `"$or":`, `"$must":`, `"$should":`, `"$mustNot":`, `"$boost":`},
		`SEARCH.QUERY shop '{"ti`:                                                       {`"title":`},
		`SEARCH.QUERY shop '{"price":{"$g`:                                              {`"$gt":`, `"$gte":`},
		`SEARCH.QUERY shop '{"title":{"$p`:                                              {`"$phrase":`},
		`SEARCH.QUERY shop '{"$or":[{"price":{"$lt":9}},{"ma`:                           {`"maker.name":`},
		`SEARCH.QUERY shop '{"title":"re`:                                               nil,
		`SEARCH.COUNT bikes '{"title":"red","pr`:                                        {`"price":`},
		`SEARCH.QUERY shop '{}' SELECT 1 ti`:                                            {"title"},
		`SEARCH.QUERY shop '{}' ORDERBY pr`:                                             {"price"},
		`SEARCH.AGGREGATE shop '{}' '{"mean":{"$av`:                                     {`"$avg":`},
		`SEARCH.AGGREGATE shop '{}' '{"mean":{"$avg":{"field":"pr`:                      {`"price"`},
		"FT.SUGGET ":      {"names"},
		"BF.ADD ":         {"bloom"},
		"CF.EXISTS ":      {"cuckoo"},
		"CMS.QUERY ":      {"counts"},
		"TOPK.LIST ":      {"top"},
		"TDIGEST.ADD ":    {"digest"},
		"TS.GET ":         {"series"},
		"TS.MADD x 1 2 s": {"series"},
	} {
		if got := completions(Target{Session: s}, line); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// TestTypingAQuery completes a query as a person does: what follows the part that TAB adds is a part of the same word.
func TestTypingAQuery(t *testing.T) {
	out, _ := typedInto(t, Options{Target: Target{Session: newShop(t)}}, "FT.SEARCH prod\t\"@ki\tsh\t}\" RET\t1 na\t\r")
	mustShow(t, out, `FT.SEARCH products "@kind:{shoe}" RETURN 1 name`, `1) "name"`)
}

// TestSearchOffers checks the candidates of a shell, which quotes the words itself.
func TestSearchOffers(t *testing.T) {
	got := Offers(context.Background(), Target{Session: newShop(t)}, []string{"FT.SEARCH", "products"}, "shoe @kind:{w")
	if len(got) != 1 || got[0].Value != "shoe @kind:{winter hat" {
		t.Errorf("got %q", got)
	}
}

// withoutAliases is a server that lacks FT.ALIASLIST, as Redis before 8.10 does, and replies in RESP3.
type withoutAliases struct{ keyspace.Session }

func (s withoutAliases) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	switch string(args[0]) {
	case "FT.ALIASLIST":
		return resp.MakeError("ERR unknown command 'FT.ALIASLIST'"), nil
	case "FT._LIST":
		return resp.Value{Kind: resp.Set, Elems: []resp.Value{resp.MakeString("cats")}}, nil
	case "FT.INFO":
		field := resp.Value{Kind: resp.Map, Elems: []resp.Value{
			resp.MakeString("identifier"), resp.MakeString("$.name"), resp.MakeString("attribute"), resp.MakeString("name"),
			resp.MakeString("type"), resp.MakeString("TEXT"), resp.MakeString("flags"), resp.MakeArray(),
		}}
		return resp.Value{Kind: resp.Map, Elems: []resp.Value{resp.MakeString("attributes"), resp.MakeArray(field)}}, nil
	}
	return s.Session.Do(ctx, args...)
}

func TestCompletionOfSearchOnAServer(t *testing.T) {
	target := Target{Session: withoutAliases{newSession(t)}}
	for line, want := range map[string][]string{"FT.SEARCH ": {"cats"}, "FT.SEARCH cats @n": {"@name:"}} {
		if got := completions(target, line); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// FuzzEndOfQuery checks that the end of no query makes completion panic, and that the token is the end of the query.
func FuzzEndOfQuery(f *testing.F) {
	for _, q := range []string{`@a|b:{x | y}`, `"a \" @b:[1 2]=>{$weight: 2}`, `*=>[KNN 2 @v $q]`, `{"a":[{"b":"c`, `]}{`} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		for _, e := range []queryEnd{endOfQuery(q), endOfExpression(q), endOfJSON(q, false), endOfJSON(q, true)} {
			if e.about != endNothing && !strings.HasSuffix(q, e.token) {
				t.Errorf("%q: the token %q", q, e.token)
			}
		}
	})
}
