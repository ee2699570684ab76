package cmdfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// TestLineReader compares with resp.SplitLine on each line.
func TestLineReader(t *testing.T) {
	lines := []string{"SET a 1", "  GET\ta \r", "", "# GET a", `SET b "x y"`, `GET 'a`, "ECHO " + strings.Repeat("long ", 5000), "A\x01\x02 \xff\\n", "\vPING"}
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf("SET key:%d v%d", i, i))
	}
	lines = append(lines, "LAST line")
	r := lineReader{in: bufio.NewReaderSize(strings.NewReader(strings.Join(lines, "\n")), 100)}
	var got [][][]byte
	for i, line := range lines {
		args, err := r.command()
		want, wrong := resp.SplitLine(line)
		if strings.HasPrefix(line, "#") {
			want, wrong = nil, nil
		}
		if !errors.Is(err, wrong) || r.number != i+1 || err == nil && !slices.EqualFunc(args, want, bytes.Equal) {
			t.Fatalf("line %d: %q, %v\nwant %q, %v", r.number, args, err, want, wrong)
		}
		got = append(got, args)
	}
	if _, err := r.command(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	// Later reads must not overwrite earlier arguments.
	for i, line := range lines {
		if want, err := resp.SplitLine(line); err == nil && !strings.HasPrefix(line, "#") && !slices.EqualFunc(got[i], want, bytes.Equal) {
			t.Fatalf("later line %d is %q", i+1, got[i])
		}
	}
}

// TestStrangeLines rejects a NUL byte, which would invisibly end a line, and skips a byte order
// mark.
func TestStrangeLines(t *testing.T) {
	r := lineReader{in: bufio.NewReader(strings.NewReader("\ufeffGET a\r\nSET a b\x00c\n# \x00\nGET \ufeff"))}
	for _, want := range []struct {
		words string
		err   error
	}{{"GET a", nil}, {"", errNUL}, {"", nil}, {"GET \ufeff", nil}} {
		args, err := r.command()
		if got := string(bytes.Join(args, []byte(" "))); got != want.words || !errors.Is(err, want.err) {
			t.Errorf("line %d: %q, %v\nwant %q, %v", r.number, got, err, want.words, want.err)
		}
	}
}
