package rest

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// wordsOf parses as the standard library does.
func wordsOf(body []byte) (words []string, ok bool) {
	var raw []json.RawMessage
	if json.Unmarshal(body, &raw) != nil || raw == nil {
		return nil, false
	}
	for _, w := range raw {
		switch w[0] {
		case '"':
			words = append(words, string(unquote(w[1:len(w)-1])))
		case '{', '[', 'n':
			return nil, false
		default:
			words = append(words, string(w))
		}
	}
	return words, true
}

// TestWords compares bodies that differ from valid ones in a few bytes with the standard library.
func TestWords(t *testing.T) {
	bodies := []string{`["SET","k","v"]`, ` [ "a" , -1.5e+3 ,true,false, 0 ] `, `["\u00e9\ud83d\ude00\n\"\\\/","` + "\xff" + `"]`, `[]`, `[null]`, `[[1]]`, `{"a":1}`, `[1,2.,03,-]`}
	const bytes = "[]{}\",\\ \t\r\n\x00\x1f0123456789abcdefABCDEFtruelsn.+-"
	accepted := 0
	for i := range 100_000 {
		body := []byte(bodies[i%len(bodies)])
		for range rand.IntN(3) {
			at := rand.IntN(len(body))
			switch b := bytes[rand.IntN(len(bytes))]; rand.IntN(3) {
			case 0:
				body[at] = b
			case 1:
				body = append(body[:at], append([]byte{b}, body[at:]...)...)
			case 2:
				body = append(body[:at:at], body[at+1:]...)
			}
		}
		want, ok := wordsOf(body)
		got, err := parseWords(body)
		if ok != (err == nil) || ok && len(got) != len(want) {
			t.Fatalf("%q: %q, %v; want %q, %t", body, got, err, want, ok)
		}
		if ok {
			accepted++
		}
		for j := range want {
			if string(got[j]) != want[j] {
				t.Fatalf("%q: %q, want %q", body, got, want)
			}
		}
	}
	if accepted < 10_000 {
		t.Errorf("only %d bodies were valid", accepted)
	}
}

// TestNumbers compares IsJSONNumber with the standard library.
func TestNumbers(t *testing.T) {
	const bytes = "0123456789.eE+-"
	for range 100_000 {
		text := make([]byte, rand.IntN(6))
		for i := range text {
			text[i] = bytes[rand.IntN(len(bytes))]
		}
		if got, want := resp.IsJSONNumber(text), json.Valid(text); got != want {
			t.Fatalf("%q: %t, want %t", text, got, want)
		}
	}
}
