package resp_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"reflect"
	"testing"
	"testing/quick"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
)

// lines are what people type: the words between RPUSH's key and the end.
var lines = []string{
	`a b  c`, "\ta\vb\fc ", `"a b"`, `'a b'`, `""`, `''`, `"" ''`, `"a" 'b' c`,
	`"\n\r\t\b\a\\\"\x41\xfF\x4g\q"`, `'\n\'\\'`, `a"b`, `a"b"`, `a\ b`, `\x41`, `"\x4"`, `"\`, `"a`, `'a`, `"a"b`, `'a'b`, `"a"'b'`,
	`'it''s'`, `a'b`, `a'b c'`, `#`, `é`, `"é"`, `--`, `"a\`,
}

// TestSplitLine splits a line as redis-server splits an inline command, and
// refuses the lines that it refuses.
func TestSplitLine(t *testing.T) {
	server := oracle.Start(t)
	ask := server.Dial(t)
	for _, line := range lines {
		conn, err := net.Dial("unix", server.Socket)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "RPUSH l %s\r\n", line)
		reply, err := resp.NewReader(conn).ReadReply()
		conn.Close()
		if err != nil {
			t.Fatal(err)
		}
		got, err := resp.SplitLine(line)
		if reply.IsError() {
			if !errors.Is(err, resp.ErrUnbalanced) {
				t.Errorf("%s: %q, %v; redis-server says %s", line, got, err, reply.Str)
			}
			continue
		}
		var want [][]byte
		for _, v := range ask.Do(words([]string{"LRANGE", "l", "0", "-1"})...).Elems {
			want = append(want, v.Str)
		}
		ask.Do(words([]string{"DEL", "l"})...)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q (%v)", line, got, want, err)
		}
	}
	if got, err := resp.SplitLine(" \t "); err != nil || got != nil {
		t.Errorf("a blank line is %q, %v", got, err)
	}
}

// TestQuotedWords reads any words back from the quotes that they are shown in.
func TestQuotedWords(t *testing.T) {
	check := func(words [][]byte, utf8 bool) bool {
		var line []byte
		for _, w := range words {
			line = append(resp.AppendQuoted(line, w, utf8), ' ')
		}
		got, err := resp.SplitLine(string(line))
		if err != nil || len(got) != len(words) {
			return false
		}
		for i := range words {
			if !bytes.Equal(got[i], words[i]) {
				return false
			}
		}
		return true
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}
