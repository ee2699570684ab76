package resp_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// FuzzReadCommand reads a stream of commands as it may come from a network: what is
// read, and the violation that ends it, must not depend on how the bytes arrive.
func FuzzReadCommand(f *testing.F) {
	for _, stream := range []string{
		"*1\r\n$4\r\nPING\r\n", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*0\r\n\r\nSET k 'a b'\r\n", "*-1\r\nPING \"\\x41\\\"\"\n",
		"*2147483647\r\n$536870912\r\n", "*1\r\n$536870913\r\n", "*1\r\n$-1\r\n", "*99999999999999999999\r\n", "GET 'k\r\n", "*1\r\n:1\r\n", "*1\r\n$1\r\nab\r\n",
		"*3\r\n$3\r\nSET\r\n$0\r\n\r\n$2\r\n\r\n\r\n", strings.Repeat("*1\r\n", 20),
	} {
		f.Add([]byte(stream))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		want, wantErr := readAll(bytes.NewReader(stream))
		if wantErr == nil {
			t.Fatal("there is no end")
		}
		for how, arrive := range arrivals {
			got, err := readAll(arrive(bytes.NewReader(stream)))
			if !reflect.DeepEqual(got, want) || err.Error() != wantErr.Error() {
				t.Fatalf("%s: %q, %v; otherwise %q, %v", how, got, err, want, wantErr)
			}
		}
	})
}

// FuzzReadReply reads what a server may answer. What is read can be printed in every
// form, and written and read again the same.
func FuzzReadReply(f *testing.F) {
	for _, reply := range []string{
		"+OK\r\n", "-ERR no\r\n", ":-1\r\n", "$-1\r\n", "$3\r\na\r\n\r\n", "*-1\r\n", "*2\r\n:1\r\n*1\r\n$0\r\n\r\n", "_\r\n", "#t\r\n", ",1.50\r\n", ",nan\r\n", ",-inf\r\n",
		"(123456789012345678901234567890\r\n", "=7\r\ntxt:abc\r\n", "!5\r\nERR x\r\n", "%1\r\n+k\r\n~1\r\n:1\r\n", ">2\r\n+a\r\n+b\r\n", "|1\r\n+k\r\n+v\r\n:1\r\n",
		"%4611686018427387904\r\n", "*9223372036854775807\r\n", "$536870912\r\n", strings.Repeat("*1\r\n", 200), strings.Repeat("|0\r\n", 200),
	} {
		f.Add([]byte(reply))
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		v, err := resp.NewReader(bytes.NewReader(reply)).ReadReply()
		if err != nil {
			return
		}
		for _, format := range []resp.Format{resp.Typed, resp.Raw, resp.CSV, resp.JSON} {
			resp.Printer{Format: format, RESP3: true}.Append(nil, v)
			resp.Printer{Format: format, Escape: true}.Append(nil, v)
		}
		again, err := resp.NewReader(bytes.NewReader(resp.Append3(nil, v))).ReadReply()
		if err != nil || !bytes.Equal(resp.Append3(nil, again), resp.Append3(nil, v)) {
			t.Fatalf("%+v came back as %+v, %v", v, again, err)
		}
	})
}

// FuzzSplitLine splits lines as they may stand in a script. The words that it finds
// are found again when they are written in quotes.
func FuzzSplitLine(f *testing.F) {
	for _, line := range []string{`SET k "a\x00\n\"b"`, `'it\'s' x`, `"a"b`, `\`, `"\x4`, "a\x00b c", "\v\f a"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := resp.SplitLine(line)
		if err != nil {
			if !errors.Is(err, resp.ErrUnbalanced) {
				t.Fatal(err)
			}
			return
		}
		var quoted []byte
		for _, w := range words {
			quoted = append(resp.AppendQuoted(quoted, w, false), ' ')
		}
		again, err := resp.SplitLine(string(quoted))
		if err != nil || !reflect.DeepEqual(again, words) {
			t.Fatalf("%q was written as %s and read as %q, %v", words, quoted, again, err)
		}
	})
}
