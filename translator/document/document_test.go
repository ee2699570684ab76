package document

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func mustParse(t testing.TB, text string) *Value {
	t.Helper()
	v, err := Parse([]byte(text), nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestFloatsRoundTrip prints random doubles and parses them back.
func TestFloatsRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		f := math.Float64frombits(random.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		text := string((&Value{Kind: Float, Float: f}).Append(nil))
		if v := mustParse(t, text); v.Kind != Float || v.Float != f {
			t.Fatalf("%g is printed as %s and read as %v", f, text, v)
		}
	}
}

func TestFloatForm(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", math.Copysign(0, -1): "-0.0", 1: "1.0", -12.5: "-12.5", 1e15: "1000000000000000.0", 1234567890123456: "1234567890123456.0",
		1e16: "1e16", 12345678901234567: "1.2345678901234568e16", 1e-5: "0.00001", 1.5e-5: "0.000015", 1e-6: "1e-6", 5e-324: "5e-324",
		math.MaxFloat64: "1.7976931348623157e308", 0.1: "0.1",
	} {
		if got := string((&Value{Kind: Float, Float: f}).Append(nil)); got != want {
			t.Errorf("%g: got %s, want %s", f, got, want)
		}
	}
}

// TestParseLikeEncodingJSON mutates JSON at random and compares validity and meaning with encoding/json.
func TestParseLikeEncodingJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	seeds := []string{
		`{"a":[1,-2.5e+3,true,false,null],"b":{"c":"x\n\u00e9\ud83d\ude00\"\\\/"},"":[]}`,
		`[[[]],{},"",0,-0,1.0E-7, 12 ,{"a":{"a":1}}]`, `"\u0000\u001f"`, ` 1 `,
	}
	const letters = `{}[],:"\u0e+-.19ntrfals ` + "\n\x01"
	for range 200_000 {
		text := []byte(seeds[random.IntN(len(seeds))])
		for range random.IntN(3) {
			at := random.IntN(len(text))
			switch random.IntN(3) {
			case 0:
				text[at] = letters[random.IntN(len(letters))]
			case 1:
				text = append(text[:at], text[at+1:]...)
			default:
				text = append(text[:at+1], text[at:]...)
				text[at] = letters[random.IntN(len(letters))]
			}
			if len(text) == 0 {
				text = []byte(" ")
			}
		}
		v, err := Parse(text, nil)
		if strings.Contains(string(text), `\u`) && err != nil || err != nil && strings.Contains(err.Error(), "out of range") {
			continue // encoding/json accepts lone surrogates and any exponent
		}
		if valid := json.Valid(text); valid != (err == nil) {
			t.Fatalf("%q: %v, but encoding/json says valid %v", text, err, valid)
		}
		if err != nil {
			continue
		}
		again := mustParse(t, string(v.Append(nil)))
		if !again.Equal(v) || string(again.Append(nil)) != string(v.Append(nil)) {
			t.Fatalf("%q becomes %s and then %s", text, v.Append(nil), again.Append(nil))
		}
		var theirs, ours any
		if json.Unmarshal(text, &theirs) != nil || json.Unmarshal(v.Append(nil), &ours) != nil {
			continue
		}
		a, _ := json.Marshal(theirs)
		if b, _ := json.Marshal(ours); string(a) != string(b) {
			t.Fatalf("%q means %s, not %s", text, a, b)
		}
	}
}

func TestDepth(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if v := mustParse(t, nested(MaxDepth)); v.Depth() != MaxDepth {
		t.Errorf("the depth is %d", v.Depth())
	}
	if _, err := Parse([]byte(nested(MaxDepth+1)), nil); err == nil || err.Error() != "recursion limit exceeded at line 1 column 128" {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := Load([]byte(nested(MaxStoredDepth)), nil); err != nil {
		t.Error(err)
	}
	if _, err := Load([]byte(strings.Repeat("[", 1<<24)), nil); err == nil {
		t.Error("a document of millions of brackets is read")
	}
	if _, err := ParsePath("$[?" + strings.Repeat("(", 1<<20)); err == nil {
		t.Error("a path of a million parentheses is accepted")
	}
	if _, err := ParsePath(strings.Repeat("$[?(@", 1<<20)); err == nil {
		t.Error("a path of a million filters is accepted")
	}
	for _, link := range []string{" +1", "*1", ".abs()"} {
		if _, err := ParsePath("$.a" + strings.Repeat(link, 1<<20)); err == nil {
			t.Errorf("a path of a million %s is accepted", link)
		}
		if p, err := ParsePath("$.a" + strings.Repeat(link, maxLinks)); err != nil || len(p.Select(mustParse(t, `{"a":1}`), nil)) != 1 {
			t.Errorf("a path of many %s: %v", link, err)
		}
	}
}

// TestOddOperands parses invalid numbers and patterns with a valid start.
func TestOddOperands(t *testing.T) {
	root := mustParse(t, `{"a":[1,"x"]}`)
	for _, text := range []string{`$.a[?@ in [e+1]]`, `$.a[?@ == {"b":e-1}]`, `$.a[?@ in [E+]]`} {
		if _, err := ParsePath(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	for _, text := range []string{`$.a[?@ =~ match("x")]`, `$.a[?match(@, search("x"))]`, `$.a[?search(@, search())]`} {
		p, err := ParsePath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if found := p.Select(root, nil); len(found) > 0 {
			t.Errorf("%s finds %v", text, found)
		}
	}
}

// TestPathsDoNotPanic evaluates mutated paths on a document.
func TestPathsDoNotPanic(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	root := mustParse(t, `{"a":[1,2,{"b":"x","c":null}],"d":{"a":{"a":[]}},"e f":1.5}`)
	seeds := []string{
		`$..a[?(@.b=="x" && !(@.c>1) || @=~'^x')].c`, `$.a[-9223372036854775808:9223372036854775807:9223372036854775807]`,
		`$..*`, `.a[0]`, `$["e f",'a']`, `$..a[::2]..b`, `$[?(@.a[0] != null)]`,
		`$..[?@ in [1, "x", {"a":[null]}] || -@.b * 2 % 3 >= count(@..*).abs()]~`, `concat(first($..*), "b").append($.a[0:1]).index(1.5e0)`,
		`$[?match(@, "x") && search(@.b, @) && @ sizeof 2 || !@ empty true || @ anyof [1] || stddev(@.a) / max(@) < 1]`,
	}
	const letters = `$@.*[]()?:,'"\=!<>&|~-019abx +/%{}`
	for range 100_000 {
		text := []byte(seeds[random.IntN(len(seeds))])
		for range random.IntN(4) {
			text[random.IntN(len(text))] = letters[random.IntN(len(letters))]
		}
		if p, err := ParsePath(string(text)); err == nil {
			p.SelectUnique(root, nil)
			p.Child()
		}
	}
}

// TestBigObject finds, replaces and removes keys of an object with an index.
func TestBigObject(t *testing.T) {
	v := &Value{Kind: Object}
	name := func(i int) string { return strings.Repeat("k", i+1) }
	for i := range 5 * indexed {
		v.Put(name(i), &Value{Kind: Int, Int: int64(i)})
	}
	doomed := map[*Value]bool{v.Get(name(3)): true, v.Get(name(40)): true}
	if n := v.Prune(doomed); n != 2 {
		t.Errorf("removed %d", n)
	}
	v.Put(name(5), &Value{Kind: Bool})
	v.Put(name(3), &Value{})
	for i := range 5 * indexed {
		e := v.Get(name(i))
		switch {
		case i == 40 && e != nil, i == 3 && e.Kind != Null, i == 5 && e.Kind != Bool:
			t.Errorf("key %d: %v", i, e)
		case i != 40 && i != 3 && i != 5 && e.Int != int64(i):
			t.Errorf("key %d: %v", i, e)
		}
	}
	if v.Keys[len(v.Keys)-1] != name(3) || len(v.Keys) != 5*indexed-1 {
		t.Error("the order of the keys is wrong")
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		a    string
		op   Operation
		b    string
		want string // or the error
	}{
		{"1", Add, "2", "3"}, {"1", Add, "2.0", "3.0"}, {"9223372036854775807", Add, "1", "ERR numeric overflow"},
		{"-9223372036854775808", Add, "-1", "ERR numeric overflow"}, {"-9223372036854775807", Add, "-1", "-9223372036854775808"},
		{"9223372036854775807", Add, "0", "9223372036854775807"}, {"9223372036854775808", Add, "1", "9223372036854775808.0"}, {"18446744073709551615", Add, "1", "18446744073709551616.0"},
		{"18446744073709551615", Add, "-1", "18446744073709551616.0"}, {"9223372036854775808", Add, "-9223372036854775808", "0.0"},
		{"3", Multiply, "-4", "-12"}, {"1e308", Multiply, "10", "ERR result is not a number"}, {"-0.5", Multiply, "2", "-1.0"},
		{"-1", Multiply, "-9223372036854775808", "ERR numeric overflow"}, {"-9223372036854775808", Multiply, "-2", "ERR numeric overflow"},
		{"4294967296", Multiply, "2147483648", "ERR numeric overflow"}, {"4294967296", Multiply, "4294967296", "ERR numeric overflow"}, {"0", Multiply, "9223372036854775807", "0"},
		{"2", Power, "62", "4611686018427387904"}, {"2", Power, "63", "ERR numeric overflow"}, {"2", Power, "64", "ERR numeric overflow"}, {"2", Power, "18446744073709551615", "ERR result is not a number"}, {"-2", Power, "63", "-9223372036854775808"},
		{"0", Power, "0", "1"}, {"0", Power, "9223372036854775807", "0"}, {"-1", Power, "9223372036854775807", "-1"}, {"-1", Power, "4", "1"},
		{"2", Power, "-1", "ERR numeric overflow"}, {"-1", Power, "-3", "-1"}, {"2.0", Power, "-1", "0.5"}, {"0.0", Power, "-1", "ERR result is not a number"},
		{"-8", Power, "0.5", "ERR result is not a number"},
	} {
		v, err := test.op(mustParse(t, test.a), mustParse(t, test.b))
		if err != nil {
			if err.Error() != test.want {
				t.Errorf("%s and %s: %v, want %s", test.a, test.b, err, test.want)
			}
			continue
		}
		if !v.Identical(mustParse(t, test.want)) {
			t.Errorf("%s and %s: %s, want %s", test.a, test.b, v.Append(nil), test.want)
		}
	}
}

// TestManyWays evaluates a path with far too many ways to each value.
func TestManyWays(t *testing.T) {
	root := mustParse(t, strings.Repeat("[", MaxDepth)+strings.Repeat("]", MaxDepth))
	for _, step := range []string{"..*", "[0,0]"} {
		p, err := ParsePath("$" + strings.Repeat(step, 20))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(p.Select(root, nil)); n == 0 || n > repeatLimit {
			t.Errorf("%s: %d values", step, n)
		}
	}
}
