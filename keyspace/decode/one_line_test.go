package decode

import "testing"

func TestInLine(t *testing.T) {
	for _, c := range []struct{ b, changed, want string }{
		{`{"a":1,"b":[1,2]}`, "{\n  \"a\": 2,\n  \"b\": [ 1 ]\n}", `{"a":2,"b":[1]}`},
		{`{"a": 1, "b": [1, 2]}`, `{"a":2,"b":[1,{}]}`, `{"a": 2, "b": [1, {}]}`},
		{`{"a": 1,"b": 2}`, `{"a":1.50,"b":1e9}`, `{"a": 1.50,"b": 1e9}`},
		{`[",:\"\\",":,"]`, "[\n\",:\\\"\\\\\", 7]", `[",:\"\\",7]`},
		{`[]`, `[ ]`, `[]`},
	} {
		w, text, ok := CompactJSON([]byte(c.b), Options{})
		if !ok {
			t.Errorf("%s is not taken", c.b)
			continue
		}
		if back, err := w.Line(text); back != c.b || err != nil {
			t.Errorf("%s comes back as %s, %v", c.b, back, err)
		}
		if got, err := w.Line(c.changed); got != c.want || err != nil {
			t.Errorf("%s: got %s, %v", c.b, got, err)
		}
		if Lines(c.b) != text {
			t.Errorf("%s: %s", c.b, text)
		}
	}
	for _, b := range []string{"{\n}", `{ "a":1}`, `{"a":1, "b":2,"c":3}`, `{"a":1`, `7`, `"a"`, ``, `{"a":1} `} {
		if _, text, ok := CompactJSON([]byte(b), Options{}); ok {
			t.Errorf("%s is taken, as %s", b, text)
		}
	}
	if _, err := (JSONStyle{",", ":"}).Line(`{"a":}`); err == nil {
		t.Error("no error")
	}
}
