package model

import (
	"encoding/binary"
	"math"
	"testing"

	_ "github.com/meowdis/meowdis/redis/search/languages"
	"github.com/meowdis/meowdis/redis/search/query"
	"github.com/meowdis/meowdis/redis/search/text"
)

func floats(v ...float32) string {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return string(b)
}

var library = &Index{
	Schema: query.Fields{
		{Name: "title", Type: query.Text, Weight: 2}, {Name: "body", Type: query.Text, NoStem: true, IndexEmpty: true},
		{Name: "kind", Type: query.TagField, Separator: ','}, {Name: "price", Type: query.NumericField, IndexMissing: true},
		{Name: "at", Type: query.GeoField}, {Name: "area", Type: query.GeoShapeField},
		{Name: "v", Type: query.Vector, Dim: 2, ElementBytes: 4, VectorType: "FLOAT32", Metric: "L2"},
		{Name: "note", Type: query.Text, IndexMissing: true},
	},
	Language:   "english",
	IsStopWord: text.StopWords(text.DefaultStopWords),
}

// Redis documentation, Query syntax: which documents a query matches.
func TestMatch(t *testing.T) {
	d, err := library.Analyze(map[string][]string{"title": {"Going home again"}, "body": {"the big red cat sat on a mat", ""},
		"kind": {"Pet, Big Cat"}, "price": {"9.5"}, "at": {"13.36,38.12"}, "area": {"POINT(1 1)"}, "v": {floats(1, 2)}}, "")
	if err != nil {
		t.Fatal(err)
	}
	params := map[string]string{"v": floats(1, 1), "wkt": "POLYGON((0 0,2 0,2 2,0 2,0 0))"}
	for _, c := range []struct {
		in   string
		want bool
	}{
		{`red`, true}, {`blue`, false}, {`homes`, true}, {`"homes"`, false}, {`@body:homes`, false}, {`@title:red`, false},
		{`red cat`, true}, {`"red cat"`, true}, {`"cat red"`, false}, {`"big cat"`, false}, {`(big cat)=>{$slop: 1}`, true},
		{`(big mat)=>{$slop: 1}`, false}, {`(cat big)=>{$inorder: true}`, false}, {`(cat big)=>{$slop: 1}`, true},
		{`red -blue`, true}, {`red -cat`, false}, {`-blue`, true}, {`~blue red`, true}, {`blue|red`, true},
		{`hom*`, true}, {`h*`, false}, {`*ome`, true}, {`*om*`, true}, {`w'h?m*'`, true}, {`%hme%`, true}, {`%%hmee%%`, true}, {`%xxx%`, false},
		{`@kind:{pet}`, true}, {`@kind:{big cat}`, true}, {`@kind:{cat}`, false}, {`@kind:{bi*}`, true}, {`@kind:{dog|pet}`, true},
		{`@price:[9.5 10]`, true}, {`@price:[(9.5 10]`, false}, {`@price!=9.5`, false}, {`@price>9`, true},
		{`@at:[13.4 38.1 10 km]`, true}, {`@at:[13.4 38.1 1 km]`, false}, {`@area:[WITHIN $wkt]`, true}, {`@area:[DISJOINT $wkt]`, false},
		{`@v:[VECTOR_RANGE 1 $v]`, true}, {`@v:[VECTOR_RANGE 0.5 $v]`, false}, {`@kind:{pet}=>[KNN 3 @v $v]`, true},
		{`ismissing(@note)`, true}, {`ismissing(@price)`, false}, {`@body:("")`, true}, {`the`, false}, {`*`, true},
	} {
		n, err := query.Parse(c.in, query.Options{Dialect: 2, Schema: library.Schema, Params: params, IsStopWord: library.IsStopWord})
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		n = query.Expand(n, func(t *query.Term) (out []*query.Term) {
			for _, extra := range text.Expansions(t.Text, text.Analysis{Language: "english"}) {
				out = append(out, &query.Term{Text: extra})
			}
			return out
		})
		if _, ok := d.Match(n, Options{Slop: -1}); ok != c.want {
			t.Errorf("%s: %v", c.in, ok)
		}
	}
	if p := d.Terms.Postings["home"]; p.Freq != 2 {
		t.Error("the field's weight", p)
	}
	for _, bad := range []map[string][]string{{"price": {"x"}}, {"at": {"1"}}, {"area": {"POINT"}}, {"v": {"123"}}} {
		if _, err := library.Analyze(bad, ""); err == nil {
			t.Error("no error for", bad)
		}
	}
}

// Redis documentation, Vectors: types and distance metrics.
func TestVectors(t *testing.T) {
	for kind, blob := range map[string]string{"FLOAT32": "\x00\x00\xc0\x3f", "FLOAT64": "\x00\x00\x00\x00\x00\x00\xf8\x3f",
		"FLOAT16": "\x00\x3e", "BFLOAT16": "\xc0\x3f"} {
		if v := DecodeVector(kind, blob); len(v) != 1 || v[0] != 1.5 {
			t.Error(kind, v)
		}
	}
	if v := DecodeVector("INT8", "\xff\x02"); v[0] != -1 || v[1] != 2 {
		t.Error(v)
	}
	if v := DecodeVector("UINT8", "\xff"); v[0] != 255 {
		t.Error(v)
	}
	if DecodeVector("FLOAT32", "123") != nil || DecodeVector("X", "1") != nil {
		t.Error("wrong sizes")
	}
	a, b := []float64{3, 4}, []float64{4, 3}
	for metric, want := range map[string]float64{"L2": 2, "IP": -23, "COSINE": 1 - 24.0/25} {
		if got := Distance(metric, a, b); math.Abs(got-want) > 1e-12 {
			t.Error(metric, got)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add(`"red cat" -blue @kind:{pet} ~x*`, "the red cat", "pet")
	f.Fuzz(func(t *testing.T, q, body, kind string) {
		d, err := library.Analyze(map[string][]string{"body": {body}, "kind": {kind}}, "")
		if err != nil {
			t.Fatal(err)
		}
		n, err := query.Parse(q, query.Options{Dialect: 2, Schema: library.Schema})
		if err != nil {
			return
		}
		_, ok := d.Match(n, Options{Slop: -1})
		if _, not := d.Match(&query.Not{Base: query.Base{Weight: 1}, Child: n}, Options{Slop: -1}); not == ok {
			t.Fatal(q)
		}
	})
}
