package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/wire"
)

var most = wire.Limits{Bytes: 1 << 20, Batches: 100, Stmts: 1000}

var odd = store.Row{
	{}, store.Int(0), store.Int(-7), store.Int(1<<53 + 1), store.Int(math.MaxInt64), store.Int(math.MinInt64),
	store.Float(0), store.Float(math.Copysign(0, -1)), store.Float(1), store.Float(0.1), store.Float(1e300), store.Float(1e15),
	store.Float(math.Inf(1)), store.Float(math.Inf(-1)), store.Float(math.SmallestNonzeroFloat64), store.Float(math.MaxFloat64),
	store.String(""), store.String("a\"\\\n\x00\x1f\u2028é🐱</script>"), store.TextBytes([]byte("\xff\xfe")), store.String("x'00'"),
	store.Bytes([]byte{}), store.Bytes([]byte{0, 255, 10}), store.Bytes(bytes.Repeat([]byte("cats"), 1000)),
}

func same(a, b store.Value) bool {
	return a.Kind() == b.Kind() && bytes.Equal(a.Bytes(), b.Bytes()) && a.Int() == b.Int() &&
		math.Float64bits(a.Float()) == math.Float64bits(b.Float())
}

func wantRow(t *testing.T, got, want store.Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("there are %d values in place of %d", len(got), len(want))
	}
	for i := range want {
		if !same(got[i], want[i]) {
			t.Errorf("%v comes back as %v", want[i], got[i])
		}
	}
}

// TestRequest encodes and decodes unusual args.
func TestRequest(t *testing.T) {
	q := &wire.Request{Max: 1 << 40, Batches: []store.Batch{
		{Stmts: []store.Stmt{{SQL: "SELECT ?1\n", Args: odd}, {SQL: `SELECT "x"`}}}, {}, {Stmts: []store.Stmt{{SQL: ""}}},
	}}
	for _, reads := range []bool{false, true} {
		for i := range q.Batches {
			q.Batches[i].ReadOnly = reads
		}
		text := wire.AppendRequest(nil, q)
		if !json.Valid(text) {
			t.Errorf("%s is no JSON", text)
		}
		got, err := wire.ReadRequest(bytes.NewReader(text), most)
		if err != nil {
			t.Fatal(err)
		}
		if got.Max != q.Max || len(got.Batches) != 3 || len(got.Batches[0].Stmts) != 2 {
			t.Fatalf("it comes back as %+v", got)
		}
		for i, b := range got.Batches {
			if b.ReadOnly != reads {
				t.Errorf("batch %d reads: %v", i, b.ReadOnly)
			}
			for j, s := range b.Stmts {
				if s.SQL != q.Batches[i].Stmts[j].SQL {
					t.Errorf("%q comes back as %q", q.Batches[i].Stmts[j].SQL, s.SQL)
				}
				wantRow(t, s.Args, q.Batches[i].Stmts[j].Args)
			}
		}
	}
}

// TestAnswer encodes and decodes unusual rows and refusals.
func TestAnswer(t *testing.T) {
	stmts := []int{3, 3, 3, 3, 3, 0, 3}
	results := []store.Result{
		{Rows: [][]store.Row{{odd, odd}, nil, {{}}}, Changes: []int64{2, 0, 1 << 60}},
		{Rows: [][]store.Row{nil, {odd}, nil}, Changes: []int64{1, 0, 0}, Refused: &store.Refusal{At: 2, Reason: "NOT NULL"}},
		{Rows: make([][]store.Row, 3), Refused: &store.Refusal{At: 1, Reason: "late", TooLong: &store.TooLong{Limit: 10 * time.Second}}},
		{Refused: &store.Refusal{At: 2, Reason: "rows", Reply: &store.TooManyRows}},
		{Rows: make([][]store.Row, 3), Refused: &store.Refusal{At: 0, Reason: "no such table", BadStatement: true}},
		{},
	}
	text := wire.AppendResponse(nil, results, false)
	if !json.Valid(text) {
		t.Errorf("%s is no JSON", text)
	}
	got, err := wire.ReadResponse(bytes.NewReader(text), stmts, false, most)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(results) {
		t.Fatalf("%d results come back in place of %d", len(got), len(results))
	}
	wantRow(t, got[0].Rows[0][1], odd)
	if len(got[0].Rows[1]) != 0 || len(got[0].Rows[2]) != 1 || !reflect.DeepEqual(got[0].Changes, results[0].Changes) {
		t.Errorf("the first comes back as %+v", got[0])
	}
	wantRow(t, got[1].Rows[1][0], odd)
	for i := range results {
		if !reflect.DeepEqual(got[i].Refused, results[i].Refused) {
			t.Errorf("the refusal %+v comes back as %+v", results[i].Refused, got[i].Refused)
		}
	}
}

// TestForeignForms reads the forms that other programs write: spaces, escapes, and numbers as in JavaScript.
func TestForeignForms(t *testing.T) {
	const text = "{ \"b\" : [ [ [ \"\\u0053\\/\\uD83D\\uDC31\\b\" , 1e3 , -0, 9223372036854775807, 18446744073709551616, {\"f\":\"-0\"} ] ] ] ,\"read\": false }\n"
	q, err := wire.ReadRequest(strings.NewReader(text), most)
	if err != nil {
		t.Fatal(err)
	}
	s := q.Batches[0].Stmts[0]
	if s.SQL != "S/🐱\b" {
		t.Errorf("the SQL is %q", s.SQL)
	}
	zero := store.Float(math.Copysign(0, -1))
	wantRow(t, s.Args, store.Row{store.Float(1000), zero, store.Int(math.MaxInt64), store.Float(1 << 64), zero})
}

// TestBad refuses invalid requests, and answers that do not match their request.
func TestBad(t *testing.T) {
	for _, text := range []string{
		``, `{`, `{}`, `[]`, `null`, `{"b":null}`, `{"b":[]`, `{"b":[[[]]]}`, `{"b":[[[1]]]}`, `{"b":[[["x",]]]}`, `{"b":[],"b":[]}`,
		`{"b":[]}x`, `{"c":[]}`, `{"b":[],"max":-1}`, `{"b":[],"max":1.5}`, `{"b":[],"read":1}`, `{"b":[[["x",tru]]]}`, `{"b":[[["x",{"b":"?"}]]]}`,
		`{"b":[[["x",{"i":"9223372036854775808"}]]]}`, `{"b":[[["x",{"f":"1"}]]]}`, `{"b":[[["x",{"z":"1"}]]]}`, `{"b":[[["x",{"b":"AA=="`,
		`{"b":[[["x",[1]]]]}`, `{"b":[[["x",1e999]]]}`, `{"b":[[["x",--1]]]}`, "{\"b\":[[[\"\xff\"]]]}", "{\"b\":[[[\"\n\"]]]}", `{"b":[[["\uD800"]]]}`,
		`{"b":[[["\x"]]]}`, `{"b":[[["x",NaN]]]}`, `{"b":[[["x"]]]`,
	} {
		if q, err := wire.ReadRequest(strings.NewReader(text), most); err == nil {
			t.Errorf("%s is read as %+v", text, q)
		}
	}
	for _, text := range []string{
		``, `{}`, `{"error":"x"}`, `{"r":[{}]}`, `{"r":[{"ok":[]}]}`, `{"r":[{"ok":[[]]}]}`, `{"r":[{"ok":[[],[]],"n":[0]}]}`,
		`{"r":[{"ok":[[]],"n":[0]},{"ok":[[]],"n":[0]}]}`, `{"r":[{"err":"x"}]}`, `{"r":[{"err":"x","at":1}]}`, `{"r":[{"err":"x","at":0,"why":"?"}]}`,
		`{"r":[{"ok":[[1]],"n":[0]}]}`, `{"r":[{"ok":[[]],"n":[-1]}]}`,
	} {
		if r, err := wire.ReadResponse(strings.NewReader(text), []int{1}, false, most); err == nil {
			t.Errorf("%s is read as %+v", text, r)
		}
	}
}

// TestLimits holds requests to each of the limits.
func TestLimits(t *testing.T) {
	q := func(batches, stmts, args, bytes int) string {
		s := store.Stmt{SQL: strings.Repeat("x", bytes), Args: make([]store.Value, args)}
		r := &wire.Request{}
		for range batches {
			b := store.Batch{}
			for range stmts {
				b.Stmts = append(b.Stmts, s)
			}
			r.Batches = append(r.Batches, b)
		}
		return string(wire.AppendRequest(nil, r))
	}
	few := wire.Limits{Bytes: 4000, Batches: 3, Stmts: 6}
	for text, fits := range map[string]bool{
		q(3, 2, 1, 10): true, q(4, 1, 0, 1): false, q(3, 3, 0, 1): false, q(1, 1, 0, 4100): false, q(1, 1, 90, 1): false, q(1, 1, 70, 1): true,
		`{"b":[` + strings.Repeat(" ", 5000): false,
	} {
		_, err := wire.ReadRequest(strings.NewReader(text), few)
		if fits && err != nil || !fits && !errors.Is(err, wire.ErrTooLarge) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

// FuzzRequest reads any bytes: a valid request is encoded unchanged.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"b":[[["SELECT ?1",1,null,"x",{"b":"AA=="},{"i":"9"},{"f":"Infinity"},-0.0,1e5]]],"read":true,"max":5}`))
	f.Add([]byte("{\"b\":[[],[[\"\\u00e9\\ud83d\\udc31\"]]]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		q, err := wire.ReadRequest(bytes.NewReader(text), most)
		if err != nil {
			return
		}
		once := wire.AppendRequest(nil, q)
		again, err := wire.ReadRequest(bytes.NewReader(once), most)
		if err != nil {
			t.Fatalf("%q: %v", once, err)
		}
		if twice := wire.AppendRequest(nil, again); !bytes.Equal(once, twice) {
			t.Errorf("%q is written as %q, and then as %q", text, once, twice)
		}
	})
}

// FuzzAnswer reads any answer: an endpoint may be broken.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"r":[{"ok":[[[1,"x"]],[]],"n":[0,1]},{"err":"x","at":1,"why":"late","ms":10,"ok":[[]],"n":[0]}]}`))
	stmts := []int{2, 2}
	f.Fuzz(func(t *testing.T, text []byte) {
		results, err := wire.ReadResponse(bytes.NewReader(text), stmts, false, most)
		if err != nil {
			return
		}
		once := wire.AppendResponse(nil, results, false)
		again, err := wire.ReadResponse(bytes.NewReader(once), stmts, false, most)
		if err != nil {
			t.Fatalf("%q: %v", once, err)
		}
		if twice := wire.AppendResponse(nil, again, false); !bytes.Equal(once, twice) {
			t.Errorf("%q is written as %q, and then as %q", text, once, twice)
		}
	})
}

func ExampleAppendRequest() {
	fmt.Println(string(wire.AppendRequest(nil, &wire.Request{Batches: []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{
		{SQL: "SELECT value FROM keys WHERE db = ?1 AND key = ?2", Args: []store.Value{store.Int(0), store.Bytes([]byte("cat"))}},
	}}}})))
	// Output: {"b":[[["SELECT value FROM keys WHERE db = ?1 AND key = ?2",0,{"b":"Y2F0"}]]],"read":true}
}
