package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func row(pairs ...any) *Row {
	values := map[string]Value{}
	var names []string
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		names = append(names, name)
		switch v := pairs[i+1].(type) {
		case int:
			values[name] = Num(float64(v))
		case string:
			values[name] = Str(v)
		case Value:
			values[name] = v
		}
	}
	return &Row{Property: func(name string) (Value, bool) { v, ok := values[name]; return v, ok },
		Names: func() []string { return names }, MatchedTerms: []string{"red", "cat"}}
}

func show(v Value) string {
	switch v.Kind {
	case Null:
		return "null"
	case String:
		return fmt.Sprintf("%q", v.Str)
	case Array, Map:
		var parts []string
		for i, item := range v.Items {
			if s := show(item); v.Kind == Map {
				parts = append(parts, v.Names[i]+":"+s)
			} else {
				parts = append(parts, s)
			}
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return v.String()
}

// Redis documentation, Aggregations: APPLY expressions and their functions, and FT.AGGREGATE.
func TestEval(t *testing.T) {
	r := row("n", 7, "s", "Hello", "num", "12", "at", "-0.44,51.5", "none", Value{}, "a b", 3)
	for _, c := range []struct{ in, want string }{
		{`1 + 2 * 3 ^ 2 ^ 1 - 4 / 2`, `17`}, {`-(2 + 3)`, `-5`}, {`7 % 4`, `3`}, {`2 - -3`, `5`}, {`1e3`, `1000`}, {`.5 * 2`, `1`},
		{`@n >= 7 && @n < 8`, `1`}, {`@num == 12`, `1`}, {`'12' == '12.0'`, `0`}, {`@n == 1 || !(@n == 2)`, `1`}, {`! @n == 7`, `0`},
		{`@gone || 1`, `1`}, {`@gone && 1`, `0`}, {`!@gone`, `1`}, {`exists(@gone) + exists(@n) + exists(@none)`, `1`},
		{`@none == NULL`, `1`}, {`@n > NULL`, `0`}, {`'a' < 'b'`, `1`}, {`@a\ b`, `3`}, {`"a\"b"`, `"a\"b"`},
		{`upper(@s)`, `"HELLO"`}, {`lower('ÀB')`, `"Àb"`}, {`strlen(@s)`, `5`}, {`startswith(@s, 'He')`, `1`},
		{`contains('aaaa', 'aa')`, `3`}, {`contains('abc', '')`, `4`},
		{`substr(@s, 1, 3)`, `"ell"`}, {`substr(@s, -2, 5)`, `"lo"`}, {`substr(@s, 0, -1)`, `"Hell"`}, {`substr(@s, 9, 9)`, `""`},
		{`format('%s is %s%%', @s, @n)`, `"Hello is 7%"`}, {`format('%s', NULL)`, `"(null)"`},
		{`split('a, b,,c')`, `["a" "b" "c"]`}, {`split('a;b-', ';-', 'a')`, `["b"]`},
		{`matched_terms()`, `["red" "cat"]`}, {`matched_terms(1)`, `["red"]`},
		{`to_number('1.5') + 1`, `2.5`}, {`to_str(1.5)`, `"1.5"`}, {`case(@n > 5, 'big', @gone)`, `"big"`},
		{`log(exp(1))`, `1`}, {`log2(8)`, `3`}, {`sqrt(16)`, `4`}, {`abs(-3)`, `3`}, {`ceil(1.2) + floor(1.8)`, `3`}, {`sqrt('x')`, `nan`},
		{`timefmt(0)`, `"1970-01-01T00:00:00Z"`}, {`timefmt(86400, '%d/%m/%Y')`, `"02/01/1970"`}, {`timefmt('x')`, `null`},
		{`parsetime('2018-01-02T03:04:05Z', '%FT%TZ')`, `1514862245`}, {`parsetime('x', '%FT')`, `null`},
		{`day(1514862245)`, `1514851200`}, {`hour(1514862245)`, `1514862000`}, {`minute(1514862245)`, `1514862240`},
		{`month(1514862245)`, `1514764800`}, {`dayofweek(1514862245)`, `2`}, {`dayofmonth(1514862245)`, `2`},
		{`dayofyear(1514862245)`, `1`}, {`monthofyear(1514862245)`, `0`}, {`year(1514862245)`, `2018`}, {`year(-1)`, `null`},
		{`geodistance(@at, '-0.44,51.5')`, `0`}, {`geodistance('1.22,4.56', 2.34, 5.67) == geodistance(1.22, 4.56, 2.34, 5.67)`, `1`},
		{`geodistance(0, 0, 0, 1)`, `111226.3`}, {`1 / 0`, `inf`},
	} {
		e, err := Compile(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if v, err := e.Eval(r); err != nil {
			t.Errorf("%s: %v", c.in, err)
		} else if got := show(v); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
	e, _ := Compile(`@a + @b * @a + foo`)
	if e != nil {
		t.Error("foo is no function")
	}
	e, _ = Compile(`@a + @b * @a`)
	if !slices.Equal(e.Properties(), []string{"a", "b"}) {
		t.Error(e.Properties())
	}
}

// Redis documentation, Aggregations and FT.AGGREGATE: errors.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`1 +`, `Syntax error at offset 3 near ''`}, {`1 < 2 < 3`, `Syntax error at offset 6 near '<'`},
		{`foo`, `Syntax error at offset 0 near 'foo'`}, {`foo(1)`, `Unknown function name 'foo'`},
		{`sqrt(1, 2)`, `Function 'sqrt' expects 1 arguments, but got 2`}, {`1 $ 2`, `Syntax error at offset 2 near '$'`},
		{`'open`, `Syntax error at offset 0 near '''`}, {`(1`, `Syntax error at offset 2 near ''`},
		{strings.Repeat("(", 1000), `Expression is nested deeper than 128 levels`},
		{strings.Repeat("1+", 1000) + "1", `Expression is nested deeper than 128 levels`},
		{strings.Repeat("!", 1000) + "1", `Expression is nested deeper than 128 levels`},
		{`format('` + strings.Repeat("%s", 5000) + `'` + strings.Repeat(",1", 5000) + `)`, `Expression has more than 4096 parts`},
		{`@gone + 1`, `Could not find the value for a parameter name, consider using EXISTS if applicable for gone`},
		{`'a' + 1`, `Could not convert value to a number`}, {`to_number('x')`, `to_number: cannot convert string 'x'`},
		{`format('%')`, `Bad format string!`}, {`format('%s')`, `Not enough arguments for format`},
		{`format('%d', 1)`, `Unknown format specifier passed`},
	} {
		e, err := Compile(c.in)
		if err == nil {
			_, err = e.Eval(row())
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%.60s: %v, want %s", c.in, err, c.want)
		}
	}
}

func FuzzExpr(f *testing.F) {
	for _, seed := range []string{`@n + 1 > 2 && format('%s', @s)`, `timefmt(@n, "%c")`, `parsetime(@s, '%Y-%j')`, `substr(@s, -1, 1e300)`,
		`case(@n, split(@s), geodistance(@s, 1, 2))`} {
		f.Add(seed, "text", 1e9)
	}
	f.Fuzz(func(t *testing.T, in, s string, n float64) {
		e, err := Compile(in)
		if err != nil {
			return
		}
		v, _ := e.Eval(row("s", s, "n", Num(n)))
		_ = v.String()
	})
}

// Redis documentation, FT.AGGREGATE: the reducers of GROUPBY.
func TestReducers(t *testing.T) {
	rows := []*Row{row("n", 4, "s", "b", "k", 2), row("n", "1", "s", "a", "k", 3), row("s", "b", "k", Value{}),
		row("n", "x", "s", List(Str("a"), Str("c")), "k", 1), row("n", 10, "s", Value{})}
	for _, c := range []struct{ in, want, name string }{
		{`COUNT`, `5`, `__generated_aliascount`}, {`count_distinct @s`, `3`, `__generated_aliascount_distincts`},
		{`COUNT_DISTINCTISH @s`, `3`, `__generated_aliascount_distinctishs`},
		{`SUM @n`, `15`, ``}, {`AVG @n`, `5`, ``}, {`MIN @n`, `1`, ``}, {`MAX n`, `10`, ``},
		{`SUM @gone`, `nan`, ``}, {`MIN @gone`, `inf`, ``}, {`MAX @gone`, `-inf`, ``},
		{`STDDEV @n`, `4.58257569496`, ``}, {`STDDEV @gone`, `0`, ``},
		{`QUANTILE @n 0.5`, `4`, `__generated_aliasquantilen,0.5`}, {`QUANTILE @n 0`, `1`, ``}, {`QUANTILE @n 1 100`, `10`, ``},
		{`QUANTILE @gone 1`, `nan`, ``},
		{`TOLIST @s`, `["b" "a" "c"]`, ``}, {`FIRST_VALUE @s`, `"b"`, ``}, {`FIRST_VALUE @s BY @k`, `["a" "c"]`, ``},
		{`FIRST_VALUE @s BY @k DESC`, `"a"`, ``}, {`RANDOM_SAMPLE @k 9`, `[2 3 null 1]`, ``},
		{`COLLECT FIELDS 2 @k @n SORTBY 2 @k DESC LIMIT 0 2`, `[[k:3 n:"1"] [k:2 n:4]]`, ``},
		{`COLLECT FIELDS * LIMIT 4 1`, `[[n:10 s:null]]`, ``}, {`COLLECT FIELDS 1 s DISTINCT LIMIT 1 1`, `[[s:"a"]]`, ``},
	} {
		words := strings.Fields(c.in)
		r, err := ParseReduction(words[0], words[1:], 1)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		reducer := r.New()
		for _, row := range rows {
			reducer.Add(row)
		}
		if got := show(reducer.Result()); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
		if c.name != "" && r.Name != c.name {
			t.Errorf("%s: %s", c.in, r.Name)
		}
	}
	for in, want := range map[string]string{
		`COUNT @n`: `Count accepts 0 values only`, `NOPE`: `No such reducer: NOPE`, `QUANTILE @n 2`: `Percentage must be between 0.0 and 1.0`,
		`RANDOM_SAMPLE @n 1001`: `Sample size too large`, `SUM`: `Bad arguments for SUM: Expected an argument, but none provided`,
		`SUM @a @b`: `Bad arguments for SUM: Unknown argument`, `FIRST_VALUE @a BY`: `Bad arguments for FIRST_VALUE: Expected an argument, but none provided`,
		`COLLECT`: `Bad arguments for COLLECT: Expected an argument, but none provided`, `COLLECT FIELDS 3 a`: `Bad arguments for COLLECT: Expected an argument, but none provided`,
		`QUANTILE @n x`: `Bad arguments for QUANTILE: Could not convert argument to expected type`,
	} {
		words := strings.Fields(in)
		if _, err := ParseReduction(words[0], words[1:], 1); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

// TestSketches checks the reducers whose results are estimates over many rows.
func TestSketches(t *testing.T) {
	const n = 50000
	quantile, _ := ParseReduction("QUANTILE", []string{"@n", "0.9"}, 1)
	distinct, _ := ParseReduction("COUNT_DISTINCTISH", []string{"@n"}, 1)
	raw, _ := ParseReduction("HLL", []string{"@n"}, 1)
	sample, _ := ParseReduction("RANDOM_SAMPLE", []string{"@n", "10"}, 7)
	reducers := []Reducer{quantile.New(), distinct.New(), raw.New(), sample.New(), sample.New()}
	for i := range n {
		r := row("n", i*7919%n)
		for _, reducer := range reducers {
			reducer.Add(r)
		}
	}
	if v := reducers[0].Result().Num; math.Abs(v-0.9*n) > 0.005*n {
		t.Error("quantile", v)
	}
	v := reducers[1].Result().Num
	if math.Abs(v-n) > 0.2*n {
		t.Error("distinct", v)
	}
	sum, _ := ParseReduction("HLL_SUM", []string{"@h"}, 1)
	merged := sum.New()
	merged.Add(row("h", reducers[2].Result()))
	merged.Add(row("h", "not a sketch"))
	if merged.Result().Num != v {
		t.Error("merged", merged.Result())
	}
	if a, b := show(reducers[3].Result()), show(reducers[4].Result()); a != b || len(reducers[3].Result().Items) != 10 {
		t.Error("samples with one seed differ", a, b)
	}
}
