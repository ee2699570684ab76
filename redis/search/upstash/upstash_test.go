package upstash

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	_ "github.com/meowdis/meowdis/redis/search/languages"
	"github.com/meowdis/meowdis/redis/search/query"
)

func shop(t testing.TB) *Definition {
	d, err := ParseCreate(strings.Fields("shop on json prefix 2 item: book: schema title text tag KEYWORD price f64 fast n U64 FAST " +
		"at DATE FAST ok BOOL FAST path FACET raw TEXT NOTOKENIZE NOSTEM NOSTEM plain TEXT NOSTEM t2 TEXT FROM title FAST F64"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Upstash documentation, SEARCH.CREATE and Schema.
func TestCreate(t *testing.T) {
	d := shop(t)
	if got := fmt.Sprint(d.Type, d.Prefixes, d.Language, len(d.Fields), d.Fields[7], d.Fields[9], d.Fields[10]); got !=
		"JSON[item: book:]english11 {raw TEXT true true false  false} {t2 TEXT false false false title false} {FAST F64 false false false  false}" {
		t.Error(got)
	}
	for in, want := range map[string]string{
		"": "Missing index name", "x ON JSON PREFIX 1 a:": "Missing SCHEMA", "x ON LIST": "Unknown index type: LIST",
		"x ON STREAM log SCHEMA f TEXT": "Index type STREAM is not supported by meowdis: use HASH, JSON or STRING",
		"x PREFIX 1 a: SCHEMA f TEXT":   "Missing ON", "x ON HASH SCHEMA f TEXT": "Missing PREFIX",
		"x ON HASH PREFIX 1 a: SCHEMA":                      "SCHEMA has no fields",
		"x ON HASH PREFIX 2 a: a:b SCHEMA f TEXT":           "Prefixes overlap: a: and a:b",
		"x ON HASH PREFIX 1 a: SCHEMA f TEXT f TEXT":        "Duplicate field: f",
		"x ON HASH PREFIX 1 a: SCHEMA f":                    "Field f does not have a type",
		"x ON HASH PREFIX 1 a: SCHEMA f NOPE":               "Unknown field type: NOPE",
		"x ON HASH PREFIX 9 a:":                             "PREFIX needs 9 arguments",
		"x ON HASH PREFIX 1 a: LANGUAGE klingon SCHEMA f T": "Unknown language: klingon",
		"x ON HASH PREFIX 1 a: NOPE":                        "Unknown argument: NOPE",
		"x ON HASH PREFIX 1 a: SCHEMA f TEXT FROM":          "FROM of field f needs a field",
	} {
		if _, err := ParseCreate(strings.Fields(in)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	d, err := ParseCreate(strings.Fields("s EXISTSOK SKIPINITIALSCAN ON STRING PREFIX 1 log: LANGUAGE German SCHEMA f TEXT FROM SCHEMA n text notokenize nostem x KEYWORD FAST"))
	if err != nil || d.Type != "STRING" || !d.ExistsOK || !d.SkipInitialScan || d.Language != "german" {
		t.Fatal(d, err)
	}
	words := "ON STRING PREFIX 1 log: LANGUAGE german SCHEMA f TEXT FROM SCHEMA n TEXT NOSTEM NOTOKENIZE x KEYWORD FAST"
	if got := strings.Join(d.Words(), " "); got != words {
		t.Error(got)
	}
	if again, err := ParseCreate(append([]string{"s"}, d.Words()...)); err != nil || fmt.Sprint(again.Words()) != fmt.Sprint(d.Words()) {
		t.Error(again, err)
	}
	if got := fmt.Sprint(d.Described()); got != "[[f TEXT FROM SCHEMA] [n TEXT NOSTEM NOTOKENIZE] [x KEYWORD FAST]]" {
		t.Error(got)
	}
}

// Upstash documentation, Querying: the filter language. The weights of $smart are a choice.
func TestFilter(t *testing.T) {
	d := shop(t)
	for _, c := range []struct{ in, want string }{
		{`{}`, `<WILDCARD>`},
		{`{"title":{"$eq":"Running"}}`, `@title:run`},
		{`{"title":{"$eq":"Red-Bicycles"}}`, `@title:EXACT { @title:red @title:bicycl }`},
		{`{"title":"\"red bicycle\""}`, `@title:EXACT { @title:red @title:bicycl }`},
		{`{"plain":{"$smart":"gardens"}}`, `UNION { @plain:gardens => { $weight: 8; } @plain:FUZZY{gardens} @plain:FUZZY{gardens} }`},
		{`{"plain":"a b"}`, `UNION { @plain:EXACT { @plain:a @plain:b } => { $weight: 8; } @plain:EXACT { @plain:a @plain:b } => { $weight: 4; $slop: 2; } ` +
			`UNION { @plain:a @plain:b } => { $weight: 2; } INTERSECT { @plain:FUZZY{a} @plain:FUZZY{b} } @plain:FUZZY{b} }`},
		{`{"raw":{"$eq":"SKU-1"}}`, `@raw:SKU-1`},
		{`{"title":{"$in":["a","b"]}}`, `UNION { @title:a @title:b }`},
		{`{"title":{"$phrase":{"value":"a b","slop":2}}}`, `@title:EXACT { @title:a @title:b } => { $slop: 2; }`},
		{`{"title":{"$fuzzy":"Happines"}}`, `@title:FUZZY{happin}`},
		{`{"title":{"$fuzzy":{"value":"a b","distance":2}}}`, `INTERSECT { @title:FUZZY{a} @title:FUZZY{b} }`},
		{`{"title":{"$regex":"wire.*"}}`, `@title:REGEXP{^(?:wire.*)$}`},
		{`{"tag":"Red"}`, `TAG:@tag { Red }`},
		{`{"tag":{"$gt":"a","$lte":"c"}}`, `INTERSECT { TAG:@tag [(a *] TAG:@tag [* c] }`},
		{`{"price":{"$gte":1,"$lt":9}}`, `NUMERIC {1.000000 <= @price < 9.000000}`},
		{`{"price":5}`, `NUMERIC {5.000000 <= @price <= 5.000000}`},
		{`{"at":{"$gt":"1970-01-01T00:00:01Z"}}`, `NUMERIC {1000.000000 < @at <= inf}`},
		{`{"ok":true}`, `TAG:@ok { true }`},
		{`{"path":"/a/b"}`, `TAG:@path { /a/b }`},
		{`{"tag":"a","price":{"$gt":1,"$boost":3}}`, `INTERSECT { TAG:@tag { a } NUMERIC {1.000000 < @price <= inf} => { $weight: 3; } }`},
		{`{"$must":[{"tag":"a"},{"tag":"b"}],"$should":{"tag":"c","ok":true},"$mustNot":[{"n":1}]}`,
			`INTERSECT { TAG:@tag { a } TAG:@tag { b } OPTIONAL{ UNION { TAG:@tag { c } TAG:@ok { true } } } NOT{ NUMERIC {1.000000 <= @n <= 1.000000} } }`},
		{`{"$should":[{"tag":"a"},{"tag":"b","$boost":2}]}`, `UNION { TAG:@tag { a } TAG:@tag { b } => { $weight: 2; } }`},
		{`{"$or":[{"tag":"a"}],"$boost":2}`, `TAG:@tag { a } => { $weight: 2; }`},
		{`{"$mustNot":{"tag":"a"}}`, `<empty>`},
		{`{"title":"..."}`, `<empty>`},
	} {
		n, err := ParseFilter(c.in, d)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
		} else if got := strings.Join(strings.Fields(query.Explain(n)), " "); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
	for in, want := range map[string]string{
		`{`: `Invalid JSON in filter: it ends early`, `[]`: `Invalid JSON in filter: it must be an object`,
		`{"title":{"$not":1}}`: `Unknown field operator: $not`, `{"gone":1}`: `Unknown field: gone`, `{"price":"x"}`: `Invalid value for F64 field price`,
		`{"title":"` + strings.Repeat("word ", 257) + `"}`: `The filter has too many words`,
		`{"tag":{"$fuzzy":"x"}}`:                           `Field operator $fuzzy needs a TEXT field, and tag is KEYWORD`, `{"title":{}}`: `Field title has no operator`,
		`{"title":{"$regex":"("}}`: `Invalid regular expression for field title: (`, `{"$must":1}`: `$must must be an object or an array`,
		`{"ok":{"$gt":true}}`: `Field operator $gt does not work on BOOL field ok`, `{"path":"a"}`: `The path of FACET field path must begin with /`,
		`{"title":{"$phrase":{"value":"a b","slop":1,"prefix":true}}}`:  `$phrase of field title has both slop and prefix`,
		`{"title":{"$fuzzy":{"value":"a","distance":3}}}`:               `Invalid distance in $fuzzy of field title`,
		strings.Repeat(`{"$must":`, 50) + `1` + strings.Repeat(`}`, 50): `Invalid JSON in filter: nested deeper than 32 levels`,
	} {
		if _, err := ParseFilter(in, d); err == nil || err.Error() != want {
			t.Errorf("%.60s: %v, want %s", in, err, want)
		}
	}
	n, _ := ParseFilter(`{"title":{"$phrase":"red bikes"},"plain":"x"}`, d)
	r, err := ParseRequest(strings.Fields("LIMIT 5 OFFSET 2 ORDERBY price ASC SELECT 1 title HIGHLIGHT FIELDS 1 title TAGS < >"), d)
	if err != nil || r.Limit != 5 || r.Offset != 2 || r.OrderBy != "price" || !r.Ascending {
		t.Fatal(r, err)
	}
	f, _ := d.Field("title")
	if got := r.HighlightText("A red-bike!", f, "english", Terms(n, "title")); got != "A <red>-<bike>!" {
		t.Error(got)
	}
	for in, want := range map[string]string{
		"LIMIT 0": "limit should be a positive number less than 1000", "LIMIT 1001": "limit should be a positive number less than 1000",
		"LIMIT 1 2": "Unknown argument: 2", "OFFSET 10001": "offset should be a number from 0 to 10000",
		"ORDERBY title": "ORDERBY requires field 'title' to be FAST", "NOCONTENT SELECT 1 a": "NOCONTENT cannot be combined with SELECT or HIGHLIGHT",
		"SCOREFUNC": "SCOREFUNC needs FIELDVALUE", "SCOREFUNC FIELDVALUE title": "SCOREFUNC requires field 'title' to be a FAST number",
		"SCOREFUNC FIELDVALUE n ORDERBY n": "SCOREFUNC cannot be combined with ORDERBY", "SELECT 2 a": "SELECT needs 2 arguments",
	} {
		if _, err := ParseRequest(strings.Fields(in), d); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

// Upstash documentation, Score functions.
func TestScoreFunc(t *testing.T) {
	values := map[string]float64{"n": 100, "price": 4}
	value := func(name string) (float64, bool) { v, ok := values[name]; return v, ok }
	for in, want := range map[string]float64{
		"FIELDVALUE n MODIFIER LOG":                                            5,
		"SCOREMODE MULTIPLY FIELDVALUE price MODIFIER sqrt FACTOR 2":           12,
		"FIELDVALUE n FIELDVALUE price COMBINEMODE MULTIPLY SCOREMODE replace": 400,
		"FIELDVALUE n FIELDVALUE price":                                        107,
		"SCOREMODE REPLACE FIELDVALUE price MODIFIER RECIPROCAL":               0.25,
	} {
		r, err := ParseRequest(strings.Fields("SCOREFUNC "+in), shop(t))
		if err != nil {
			t.Fatal(in, err)
		}
		if got := r.ScoreFunc.Apply(3, value); got != want {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
	r, _ := ParseRequest(strings.Fields("SCOREFUNC SCOREMODE REPLACE FIELDVALUE n MODIFIER LN1P MISSING 0 FACTOR 2 FIELDVALUE price MODIFIER LOG MISSING 0 FACTOR 2"), shop(t))
	if got := r.ScoreFunc.Apply(3, func(string) (float64, bool) { return 0, false }); got != 0 {
		t.Error("missing values", got)
	}
}

// Upstash documentation, Aggregations.
func TestAggregations(t *testing.T) {
	d := shop(t)
	var rows []Row
	for i, tag := range []string{"b", "a", "b", "c", ""} {
		values := map[string][]Value{"price": {{Num: float64(i * 20)}}, "at": {{Num: float64(i) * 43200000}}, "path": {{Text: "/x/" + tag}}}
		if tag != "" {
			values["tag"] = []Value{{Text: tag}}
		} else {
			delete(values, "path")
		}
		rows = append(rows, func(field string) []Value { return values[field] })
	}
	for _, c := range []struct{ in, want string }{
		{`"$avg":{"field":"price"}`, `["value",40]`}, {`"$sum":{"field":"n"}`, `["value",0]`}, {`"$sum":{"field":"n","nullIfNoMatch":true}`, `["value",null]`},
		{`"$max":{"field":"n","missing":7}`, `["value",7]`}, {`"$min":{"field":"n"}`, `["value",null]`},
		{`"$count":{"field":"tag"}`, `["value",4]`}, {`"$cardinality":{"field":"tag"}`, `["value",3]`},
		{`"$stats":{"field":"price"}`, `["count",5,"min",0,"max",80,"sum",200,"avg",40]`},
		{`"$percentiles":{"field":"price","percents":[95,99]}`, `["values",["95.0",76,"99.0",79.2]]`},
		{`"$percentiles":{"field":"price","percents":[50],"keyed":false}`, `["values",[["key",50,"value",40]]]`},
		{`"$terms":{"field":"tag","size":2},"$aggs":{"top":{"$max":{"field":"price"}}}`,
			`["buckets",[["key","b","docCount",2,"top",["value",40]],["key","a","docCount",1,"top",["value",20]]],"sumOtherDocCount",1,"docCountErrorUpperBound",0]`},
		{`"$terms":{"field":"tag","order":{"top":"asc"},"exclude":["c"]},"$aggs":{"top":{"$max":{"field":"price"}}}`,
			`["buckets",[["key","a","docCount",1,"top",["value",20]],["key","b","docCount",2,"top",["value",40]]],"sumOtherDocCount",0,"docCountErrorUpperBound",0]`},
		{`"$terms":{"field":"tag","missing":"none","include":"none|a","order":{"key":"desc"}}`,
			`["buckets",[["key","none","docCount",1],["key","a","docCount",1]],"sumOtherDocCount",0,"docCountErrorUpperBound",0]`},
		{`"$range":{"field":"price","ranges":[{"to":30},{"from":30,"to":60},{"key":"dear","from":60}]}`,
			`["buckets",[["key","*-30","to",30,"docCount",2],["key","30-60","from",30,"to",60,"docCount",1],["key","dear","from",60,"docCount",2]]]`},
		{`"$histogram":{"field":"price","interval":50,"extendedBounds":{"min":0,"max":120}}`,
			`["buckets",[["key",0,"docCount",3],["key",50,"docCount",2],["key",100,"docCount",0]]]`},
		{`"$histogram":{"field":"price","interval":10,"minDocCount":1,"hardBounds":{"min":0,"max":30}}`,
			`["buckets",[["key",0,"docCount",1],["key",20,"docCount",1]]]`},
		{`"$dateHistogram":{"field":"at","fixedInterval":"1d"}`,
			`["buckets",[["key",0,"keyAsString","1970-01-01T00:00:00Z","docCount",2],["key",86400000,"keyAsString","1970-01-02T00:00:00Z","docCount",2],["key",172800000,"keyAsString","1970-01-03T00:00:00Z","docCount",1]]]`},
		{`"$facet":{"field":"path","path":"/x","size":1}`,
			`["path","/x","sumOtherDocCount",2,"children",[["path","/x/b","docCount",2,"sumOtherDocCount",0]]]`},
		{`"$facet":{"field":"path","path":"/","depth":2,"order":{"path":"desc"}}`,
			`["path","/","sumOtherDocCount",0,"children",[["path","/x","docCount",4,"sumOtherDocCount",0,"children",[["path","/x/c","docCount",1,"sumOtherDocCount",0],["path","/x/b","docCount",2,"sumOtherDocCount",0],["path","/x/a","docCount",1,"sumOtherDocCount",0]]]]]`},
		{`"$composite":{"size":2,"sources":[{"k":{"$terms":{"field":"tag","missingBucket":true,"missingOrder":"first"}}},{"p":{"$histogram":{"field":"price","interval":40}}}]}`,
			`["buckets",[["key",["k",null,"p",80],"docCount",1],["key",["k","a","p",0],"docCount",1]],"afterKey",["k","str:a","p","f64:0"]]`},
		{`"$composite":{"sources":[{"k":{"$terms":{"field":"tag"}}}],"after":{"k":"str:a"}}`,
			`["buckets",[["key",["k","b"],"docCount",2],["key",["k","c"],"docCount",1]]]`},
	} {
		list, err := ParseAggregations(`{"x":{`+c.in+`}}`, d)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := asJSON(Run(list, rows)[1].([]any)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
	for in, want := range map[string]string{
		`{"a":"$avg"}`: `Aggregation 'a' must be a JSON object`, `{"a":{"$avg":"price"}}`: `Aggregation 'a' is missing required 'field' property`,
		`{"a":{"$avg":{"field":"title"}}}`:                                               `Aggregation 'a' operator '$avg' does not support TEXT field 'title'`,
		`{"a":{"$avg":{"field":"FAST"}}}`:                                                `Aggregation 'a' operator '$avg' requires field 'FAST' to be FAST`,
		`{"a":{"$nope":{}}}`:                                                             `Unknown aggregation operator: $nope`,
		`{"a":{"$avg":{"field":"price"},"$aggs":{}}}`:                                    `Aggregation 'a' operator '$avg' does not support $aggs`,
		`{"a":{"$range":{"field":"price"}}}`:                                             `Aggregation 'a' operator '$range' requires ranges`,
		`{"a":{"$histogram":{"field":"price"}}}`:                                         `Aggregation 'a' operator '$histogram' requires a positive interval`,
		`{"a":{"$histogram":{"field":"price","interval":1,"extendedBounds":{"min":1}}}}`: `Aggregation 'a' has invalid extendedBounds: min and max are required`,
	} {
		if _, err := ParseAggregations(in, d); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	list, _ := ParseAggregations(`{"x":{"$extendedStats":{"field":"price"}}}`, d)
	if got := asJSON(Run(list, rows[:2])[1].([]any)); !strings.Contains(got, `"sumOfSquares",400,"variance",100,"variancePopulation",100,"varianceSampling",200,"stdDeviation",10`) ||
		!strings.Contains(got, `"stdDeviationBounds",["upper",30,"lower",-10`) {
		t.Error(got)
	}
}

func FuzzFilter(f *testing.F) {
	f.Add(`{"$must":[{"title":"a b"},{"price":{"$gte":1}}],"$mustNot":{"tag":{"$in":["x"]}}}`, `{"a":{"$terms":{"field":"tag"}}}`)
	f.Fuzz(func(t *testing.T, filter, aggregations string) {
		d := shop(t)
		if n, err := ParseFilter(filter, d); err == nil {
			query.Explain(n)
		}
		if list, err := ParseAggregations(aggregations, d); err == nil {
			Run(list, []Row{func(string) []Value { return []Value{{Num: 1, Text: "/a"}} }})
		}
	})
}

func asJSON(result []any) string {
	text, _ := json.Marshal(result)
	return string(text)
}
