package query

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/meowdis/meowdis/redis/search/text"
)

var shop = Fields{
	{Name: "title", Type: Text}, {Name: "body", Type: Text, IndexEmpty: true, IndexMissing: true},
	{Name: "kind", Type: TagField}, {Name: "code", Type: TagField, CaseSensitive: true, IndexEmpty: true},
	{Name: "price", Type: NumericField}, {Name: "at", Type: GeoField}, {Name: "area", Type: GeoShapeField},
	{Name: "v", Type: Vector, Dim: 2, ElementBytes: 4},
}

func parse(t *testing.T, dialect int, in string) (Node, error) {
	t.Helper()
	return Parse(in, Options{Dialect: dialect, Schema: shop, IsStopWord: text.StopWords(text.DefaultStopWords),
		Params: map[string]string{"v": "12345678", "word": "Hello World", "n": "7", "bad": "seven", "short": "123",
			"wkt": "POINT(1 2)", "pre": "He"}})
}

// flat returns the explanation of a tree on one line.
func flat(n Node) string { return strings.Join(strings.Fields(Explain(n)), " ") }

// Redis documentation, Query syntax and Query dialects: how the operators bind.
func TestPrecedence(t *testing.T) {
	for _, c := range []struct{ in, first, second string }{
		{`hello world`, `INTERSECT { hello world }`, `INTERSECT { hello world }`},
		{`hello world | "big bang" moon`,
			`INTERSECT { UNION { INTERSECT { hello world } EXACT { big bang } } moon }`,
			`UNION { INTERSECT { hello world } INTERSECT { EXACT { big bang } moon } }`},
		{`@title:red cat`, `@title:INTERSECT { @title:red @title:cat }`, `INTERSECT { @title:red cat }`},
		{`-red cat`, `NOT{ INTERSECT { red cat } }`, `INTERSECT { NOT{ red } cat }`},
		{`red ~cat dog`, `INTERSECT { red OPTIONAL{ INTERSECT { cat dog } } }`, `INTERSECT { red OPTIONAL{ cat } dog }`},
		{`red | cat dog`, `UNION { red INTERSECT { cat dog } }`, `UNION { red INTERSECT { cat dog } }`},
		{`the red and cat`, `INTERSECT { red cat }`, `INTERSECT { red cat }`},
		{`--red`, `red`, `red`},
		{`the`, `<empty>`, `<empty>`},
		{``, `<empty>`, `<empty>`},
		{`*`, `<WILDCARD>`, `<WILDCARD>`},
		{`(*)`, `<WILDCARD>`, `<WILDCARD>`},
		{`a|red|-the`, `red`, `red`},
		{`"the red"`, `red`, `EXACT { the red }`},
		{`'red cat'`, `INTERSECT { red cat }`, `EXACT { red cat }`},
		{`(foo bar)|(hello world) @price:[100 200]|@price:[500 +inf]`,
			`INTERSECT { UNION { INTERSECT { foo bar } INTERSECT { hello world } } UNION { NUMERIC {100.000000 <= @price <= 200.000000} NUMERIC {500.000000 <= @price <= inf} } }`,
			`UNION { INTERSECT { foo bar } INTERSECT { hello world NUMERIC {100.000000 <= @price <= 200.000000} } NUMERIC {500.000000 <= @price <= inf} }`},
	} {
		for dialect, want := range []string{1: c.first, 2: c.second, 3: c.second, 4: c.second} {
			if dialect == 0 {
				continue
			}
			n, err := parse(t, dialect, c.in)
			if err != nil {
				t.Errorf("dialect %d, %s: %v", dialect, c.in, err)
			} else if got := flat(n); got != want {
				t.Errorf("dialect %d, %s\n got %s\nwant %s", dialect, c.in, got, want)
			}
		}
	}
}

// Redis documentation, Query syntax, Tags, Vector search, and FT.EXPLAIN.
func TestClauses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`hel* *lo *ell* "he"* 12*`, `INTERSECT { PREFIX{hel*} SUFFIX{*lo} INFIX{*ell*} PREFIX{he*} PREFIX{12*} }`},
		{`$pre* *$pre`, `INTERSECT { PREFIX{he*} SUFFIX{*he} }`},
		{`w'H?l*' %helo% %%helo%% %%%the%%%`, `INTERSECT { WILDCARD{h?l*} FUZZY{helo} FUZZY{helo} FUZZY{the} }`},
		{`$word`, `hello world`},
		{`red-hot`, `INTERSECT { red NOT{ hot } }`},
		{`red\-hot`, `red-hot`},
		{`red,hot.dog`, `INTERSECT { red hot dog }`},
		{`@title|body:(red @body:cat)`, `@title|body:INTERSECT { @title|body:red @body:cat }`},
		{`@title:(red @body:cat)`, `@title:INTERSECT { @title:red @NULL:cat }`},
		{`@kind:{ Red Wine | b\-c | "Fish & Chips" | $word }`, `TAG:@kind { red wine b-c fish & chips hello world }`},
		{`@code:{Red}`, `TAG:@code { Red }`},
		{`@kind:{the | wi* | *ne | *in* | w'w?' | red wi*}`, `TAG:@kind { the PREFIX{wi*} SUFFIX{*ne} INFIX{*in*} WILDCARD{w?} PREFIX{red wi*} }`},
		{`@kind:{"red w"*}`, `TAG:@kind { PREFIX{red w*} }`},
		{`@code:{""}`, `TAG:@code { }`},
		{`@body:("")`, `@body:`},
		{`@price:[-1.5 (2e3]`, `NUMERIC {-1.500000 <= @price < 2000.000000}`},
		{`@price:[(-inf +inf]`, `NUMERIC {-inf < @price <= inf}`},
		{`@price:[5]`, `NUMERIC {5.000000 <= @price <= 5.000000}`},
		{`@price:[$n $n]`, `NUMERIC {7.000000 <= @price <= 7.000000}`},
		{`@price==5 @price>=-5 @price<$n`, `INTERSECT { NUMERIC {5.000000 <= @price <= 5.000000} NUMERIC {-5.000000 <= @price <= inf} NUMERIC {-inf <= @price < 7.000000} }`},
		{`@price!=5`, `NOT{ NUMERIC {5.000000 <= @price <= 5.000000} }`},
		{`@at:[-0.44 51.5 50 KM]`, `GEO at:{-0.440000,51.500000 --> 50.000000 km}`},
		{`@area:[within $wkt]`, `GEOSHAPE{0 POINT(1 2)}`},
		{`ismissing(@body)`, `ISMISSING{body}`},
		{`red=>{$weight: 2.5; $slop: 1; $inorder: true}`, `red => { $weight: 2.5; $slop: 1; $inorder: true; }`},
		{`(red cat)=>{$slop:-1;$phonetic:false;} dog`, `INTERSECT { INTERSECT { red cat } => { $slop: -1; $phonetic: false; } dog }`},
		{`*=>[KNN 5 @v $v]`, "VECTOR {K=5 nearest vectors to `$v` in vector index associated with field @v, yields distance as `__v_score`}"},
		{`@kind:{a}=>[knn $n @v $v EF_RUNTIME 9 AS d]`, "VECTOR { TAG:@kind { a } } => {K=7 nearest vectors to `$v` in vector index associated with field @v, yields distance as `d`}"},
		{`red=>[KNN 5 @v $v]=>{$yield_distance_as: d; $hybrid_policy: batches}`, "VECTOR { red } => {K=5 nearest vectors to `$v` in vector index associated with field @v, yields distance as `d`}"},
		{`red @v:[VECTOR_RANGE 0.5 $v]=>{$yield_distance_as: d; $epsilon: 0.1}`, "INTERSECT { red VECTOR {Vectors that are within 0.500000 distance radius from `$v` in vector index associated with field @v, yields distance as `d`} }"},
	} {
		n, err := parse(t, 2, c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
		} else if got := flat(n); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// Redis documentation, FT.SEARCH and Query syntax: errors of queries.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		dialect  int
		in, want string
	}{
		{2, `(red`, `Syntax error at offset 4 near red`},
		{2, `red)`, `Syntax error at offset 3 near red`},
		{2, `red | | cat`, `Syntax error at offset 6 near red`},
		{2, `@title`, `Syntax error at offset 6 near title`},
		{2, `@title:red:cat`, `Syntax error at offset 10 near red`},
		{2, `red *`, `Syntax error at offset 4 near red`},
		{2, `@kind:{a-b}`, `Syntax error at offset 8 near a`},
		{2, `@kind:{}`, `Syntax error at offset 7 near kind`},
		{1, `*=>[KNN 5 @v $v]`, `Syntax error at offset 1 near >[`},
		{1, `$word`, `Syntax error at offset 0 near word`},
		{1, `"the"`, `Syntax error at offset 1 near the`},
		{1, `(@levels.xp:[1 2])`, `Syntax error at offset 9 near xp`},
		{2, `@nope:red`, `Unknown field at offset 0 near nope`},
		{2, `cat @price:red`, `Expected a TEXT field at offset 4 near price`},
		{2, `@title:[1 2]`, `Expected a NUMERIC field at offset 0 near title`},
		{2, `@title:{a}`, `Expected a TAG field at offset 0 near title`},
		{2, `@title:[1 2 3 km]`, `Expected a GEO field at offset 0 near title`},
		{2, `@price:[5 1]`, `Invalid numeric range (min > max): @price:[5.000000 1.000000]`},
		{2, `$gone`, "Parameter not found `gone`"},
		{2, `@price:[$bad 1]`, "Invalid numeric value (seven) for parameter `bad`"},
		{2, `@kind:{""}`, "Use `INDEXEMPTY` in field creation in order to index and query for empty strings"},
		{2, `ismissing(@kind)`, `'ismissing' requires defining the field with 'INDEXMISSING' at offset 0 near kind`},
		{2, `red=>{$nope: 1}`, `Invalid attribute nope`},
		{2, `red=>{$slop: -2}`, "Invalid value (-2) for `slop`"},
		{2, `*=>[KNN 5 @v $short]`, `Error parsing vector similarity query: query vector blob size (3) does not match index's expected size (8).`},
		{2, `@v:[VECTOR_RANGE -1 $v]`, `Error parsing vector similarity query: negative radius (-1) given in a range query`},
		{2, `*=>[KNN 5 @v $v AS a]=>{$yield_distance_as: b}`, `Distance field was specified twice for vector query: a and b`},
		{2, `*=>[KNN 5 @v $v AS title]`, "Property `title` already exists in schema"},
		{2, `red=>[KNN 5 @v $v] cat`, `Syntax error at offset 19 near cat`},
		{2, strings.Repeat("(", 200) + "a", `Query is nested deeper than 128 levels`},
		{2, strings.Repeat("b ", 20000), `Query has more than 10000 clauses`},
		{2, strings.Repeat("-~", 200) + "b", `Query is nested deeper than 128 levels`},
	} {
		if n, err := parse(t, c.dialect, c.in); err == nil {
			t.Errorf("%.80s: no error, but %s", c.in, flat(n))
		} else if err.Error() != c.want {
			t.Errorf("%.80s\n got %v\nwant %s", c.in, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`a b|"c d" -e ~f`, `@title|body:(x*|*y|%z%)=>{$weight:2}`, `@kind:{a b|c*|w'?'}`, `@price:[(1 -inf]`,
		`*=>[KNN 5 @v $v AS d]=>{$epsilon:1}`, `@price>=5 ismissing(@body)`, `@at:[1 2 3 km]`, "'\\'\"w'"} {
		f.Add(seed, 2)
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, in string, dialect int) {
		n, err := parse(t, 1+(dialect&3), in)
		if err == nil {
			Explain(n)
		} else if _, ok := err.(*Error); !ok || n != nil {
			t.Fatal(n, err)
		} else if utf8.ValidString(in) && err.Error() == "" {
			t.Fatal("empty error")
		}
	})
}
