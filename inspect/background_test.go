package inspect

import (
	"io"
	"os"
	"slices"
	"testing"
)

func TestKeyboard(t *testing.T) {
	for _, test := range []struct {
		chunks []string
		keys   string
		dark   []bool
	}{
		{[]string{"abc", "\x1b", "\x1b[A"}, "abc\x1b\x1b[A", nil},
		{[]string{"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", "x"}, "x", []bool{true}},
		{[]string{"a\x1b]11;rgb:ffff/fafa/f0f0\ab", "c"}, "abc", []bool{false}},
		{[]string{"a\x1b]11;rg", "b:00/00", "/00\x1b", "\\b"}, "ab", []bool{true}},
		{[]string{"\x1b]11;rgba:eeee/eeee/eeee/ffff\a"}, "", []bool{false}},
		{[]string{"\x1b]11;rgb:00/00/00\a", "\x1b]11;rgb:ff/ff/ff\a"}, "\x1b]11;rgb:ff/ff/ff\a", []bool{true}},
		{[]string{"\x1b]11;and then something else, which goes on and on and on and on and on"}, "\x1b]11;and then something else, which goes on and on and on and on and on", nil},
		{[]string{"\x1b]11;"}, "\x1b]11;", nil},
	} {
		in, keys, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var dark []bool
		k := &keyboard{File: in, told: func(d bool) { dark = append(dark, d) }}
		read := make(chan string)
		go func() {
			all, _ := io.ReadAll(k)
			read <- string(all)
		}()
		for _, chunk := range test.chunks {
			if _, err := io.WriteString(keys, chunk); err != nil {
				t.Error(err)
			}
		}
		keys.Close()
		if got := <-read; got != test.keys || !slices.Equal(dark, test.dark) {
			t.Errorf("%q: %q, dark %v; want %q, %v", test.chunks, got, dark, test.keys, test.dark)
		}
		in.Close()
	}
}
