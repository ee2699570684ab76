package decode_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/keyspace/decode"
)

// TestJSONPlaces finds the members of random documents, as encoding/json decodes them.
func TestJSONPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		compact, _ := json.Marshal(randomJSON(r, 4))
		indented, _ := json.MarshalIndent(json.RawMessage(compact), " ", "\t")
		for _, text := range []string{string(compact), string(indented)} {
			v, err := decode.FindJSON(text, 0)
			if err != nil || text[v.Start:v.End] != strings.TrimSpace(text) {
				t.Fatalf("%s: %+v %v", text, v, err)
			}
			checkPlaces(t, text, v)
		}
	}
}

func checkPlaces(t *testing.T, text string, v decode.JSONValue) {
	t.Helper()
	raw := []byte(text[v.Start:v.End])
	want := map[string]json.RawMessage{}
	switch raw[0] {
	case '{':
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
	case '[':
		var elems []json.RawMessage
		if err := json.Unmarshal(raw, &elems); err != nil {
			t.Fatal(err)
		}
		for i, e := range elems {
			want[fmt.Sprint(i)] = e
		}
	default:
		return
	}
	if v.Count != len(want) {
		t.Fatalf("%s has %d members, want %d", raw, v.Count, len(want))
	}
	n := 0
	err := decode.EachJSON(text, v, v.Start, func(m decode.JSONValue) bool {
		name := fmt.Sprint(n)
		if raw[0] == '{' {
			if err := json.Unmarshal([]byte(m.Name), &name); err != nil {
				t.Fatal(err)
			}
		}
		if got := text[m.Start:m.End]; got != strings.TrimSpace(string(want[name])) {
			t.Fatalf("%s of %s is %s", name, raw, got)
		}
		n++
		checkPlaces(t, text, m)
		return true
	})
	if err != nil || n != len(want) {
		t.Fatalf("%s: %d members, %v", raw, n, err)
	}
}

func randomJSON(r *rand.Rand, depth int) any {
	switch kind := r.IntN(7); {
	case kind < 2 && depth > 0:
		m := map[string]any{}
		for range r.IntN(4) {
			m[randomText(r)] = randomJSON(r, depth-1)
		}
		return m
	case kind < 4 && depth > 0:
		a := []any{}
		for range r.IntN(4) {
			a = append(a, randomJSON(r, depth-1))
		}
		return a
	case kind == 4:
		return r.IntN(1000)
	case kind == 5:
		return []any{true, false, nil}[r.IntN(3)]
	}
	return randomText(r)
}

func randomText(r *rand.Rand) string {
	parts := []string{`"`, `\`, "[", "}", ",", "a", ":", " ", "é", `\"`}
	var b strings.Builder
	for range r.IntN(5) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

// TestJSONPlacesOfBadText returns an error, and never fails otherwise.
func TestJSONPlacesOfBadText(t *testing.T) {
	for _, text := range []string{"", " ", `"`, `"\"`, "[", `{"a":[}`, `[1,"]`, "{", ",", "]"} {
		if v, err := decode.FindJSON(text, 0); !errors.Is(err, decode.ErrNotJSON) {
			t.Errorf("%q is %+v, %v", text, v, err)
		}
	}
	for _, text := range []string{"{1}", `{"a"}`, `{"a":}`, `{"a" 1}`, "[,,]", `{"a":1,}`} {
		v, err := decode.FindJSON(text, 0)
		if err != nil {
			continue
		}
		if err := decode.EachJSON(text, v, v.Start, func(decode.JSONValue) bool { return true }); err != nil && !errors.Is(err, decode.ErrNotJSON) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
