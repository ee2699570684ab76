package resp_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
)

// arrivals are the ways in which bytes may come from a network.
var arrivals = map[string]func(io.Reader) io.Reader{
	"all at once":     func(r io.Reader) io.Reader { return r },
	"byte by byte":    iotest.OneByteReader,
	"in halves":       iotest.HalfReader,
	"with the end":    iotest.DataErrReader,
	"in odd portions": func(r io.Reader) io.Reader { return &portions{r: r} },
}

// portions reads 1, 2, … 7, 1, … bytes at a time.
type portions struct {
	r io.Reader
	n int
}

func (p *portions) Read(b []byte) (int, error) {
	p.n = p.n%7 + 1
	return p.r.Read(b[:min(len(b), p.n)])
}

// readAll reads commands until the first error.
func readAll(r io.Reader) (commands [][][]byte, err error) {
	reader := resp.NewReader(r)
	for {
		args, err := reader.ReadCommand()
		if err != nil {
			return commands, err
		}
		commands = append(commands, args)
	}
}

// TestReadCommand reads the same commands however their bytes arrive; the words
// must stay what they are while the next commands are read.
func TestReadCommand(t *testing.T) {
	want := [][][]byte{
		words([]string{"PING"}),
		words([]string{"SET", "", "a\r\nb\x00\xff"}),
		words([]string{"SET", strings.Repeat("k", 100), strings.Repeat("long", 40_000)}),
		words(strings.Fields("RPUSH l" + strings.Repeat(" x", 1000))),
		words([]string{"GET", "after"}),
	}
	var wire []byte
	for i, args := range want {
		if i == 2 {
			wire = append(wire, "*0\r\n\r\n*-1\r\n   \n"...) // empty commands are passed over
		}
		wire = resp.AppendCommand(wire, args...)
	}
	wire = append(wire, "GET  inline \"w\\x41rd\"\r\nPING\n"...)
	want = append(want, words([]string{"GET", "inline", "wArd"}), words([]string{"PING"}))
	for name, arrive := range arrivals {
		t.Run(name, func(t *testing.T) {
			got, err := readAll(arrive(bytes.NewReader(wire)))
			if err != io.EOF {
				t.Errorf("it ends with %v", err)
			}
			if len(got) != len(want) {
				t.Fatalf("%d commands, want %d", len(got), len(want))
			}
			for i := range want {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Errorf("command %d is %.60q, want %.60q", i, got[i], want[i])
				}
			}
		})
	}
}

// TestReadCommandCut ends the input at every byte: between commands that is
// io.EOF, inside one io.ErrUnexpectedEOF.
func TestReadCommandCut(t *testing.T) {
	wire := resp.AppendCommand(nil, words([]string{"SET", "key", "va\r\nlue"})...)
	for name, arrive := range arrivals {
		for n := range len(wire) + 1 {
			got, err := readAll(arrive(bytes.NewReader(wire[:n])))
			want, complete := io.ErrUnexpectedEOF, 0
			switch n {
			case 0:
				want = io.EOF
			case len(wire):
				want, complete = io.EOF, 1
			}
			if !errors.Is(err, want) || len(got) != complete {
				t.Errorf("%s, cut at %d: %q, %v; want %v", name, n, got, err, want)
			}
		}
	}
}

// malformed is what no client should send.
var malformed = []string{
	"*x\r\n", "*1x\r\n", "*\r\n", "*99999999999999999999\r\n", "*2147483648\r\n",
	"*1\r\nPING\r\n", "*1\r\n:1\r\n", "*1\r\n*1\r\n",
	"*1\r\n$x\r\n", "*1\r\n$-1\r\n", "*1\r\n$\r\n", "*1\r\n$536870913\r\n", "*1\r\n$99999999999999999999\r\n",
	"*2\r\n$4\r\nPING\r\n$-2\r\n",
	"GET \"a\r\n", "GET 'a\r\n", "GET \"a\"b\r\n", "GET 'a'b\r\n",
	strings.Repeat("x", 70_000),
	"*" + strings.Repeat("1", 70_000),
	"*1\r\n$" + strings.Repeat("1", 70_000),
}

// TestProtocolErrors answers what redis-server answers before it hangs up.
func TestProtocolErrors(t *testing.T) {
	server := oracle.Start(t)
	server.Dial(t) // waits until it is up
	for _, wire := range malformed {
		conn, err := net.Dial("unix", server.Socket)
		if err != nil {
			t.Fatal(err)
		}
		go conn.Write([]byte(wire)) // it may hang up before it has read all
		want, err := resp.NewReader(conn).ReadReply()
		conn.Close()
		if err != nil {
			t.Errorf("%.40q: redis-server gives %v", wire, err)
			continue
		}
		for name, arrive := range arrivals {
			_, err := readAll(arrive(strings.NewReader(wire)))
			var violation resp.ProtocolError
			if !errors.As(err, &violation) || "ERR "+violation.Error() != string(want.Str) {
				t.Errorf("%.40q %s: %v, redis-server says %s", wire, name, err, want.Str)
			}
		}
	}
}

// TestReadReply writes replies of every kind and reads them back.
func TestReadReply(t *testing.T) {
	for _, v := range replies {
		for name, arrive := range arrivals {
			for _, form := range []struct {
				protocol string
				wire     []byte
				want     resp.Value
			}{
				{"RESP3", resp.Append3(nil, v), asRESP3(v)},
				{"RESP2", resp.Append2(nil, v), resp.Downgrade(v)},
			} {
				r := resp.NewReader(arrive(bytes.NewReader(form.wire)))
				got, err := r.ReadReply()
				if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", normal(form.want)) {
					t.Errorf("%s %s: %q is %#v, want %#v (%v)", form.protocol, name, form.wire, got, normal(form.want), err)
				}
				if _, err := r.ReadReply(); err != io.EOF {
					t.Errorf("%s %s: after %q comes %v", form.protocol, name, form.wire, err)
				}
			}
		}
	}
}

// TestReadReplyExtras reads what servers newer than RESP3's first may send.
func TestReadReplyExtras(t *testing.T) {
	for wire, want := range map[string]resp.Value{
		"|1\r\n+ttl\r\n:3600\r\n$1\r\nv\r\n":   resp.MakeString("v"),
		"!8\r\nERR a\r\nb\r\n":                 resp.MakeError("ERR a\r\nb"),
		"=7\r\nmkd:*b*\r\n":                    resp.MakeVerbatim("mkd", []byte("*b*")),
		"(-123456789012345678901234567890\r\n": {Kind: resp.BigNumber, Str: []byte("-123456789012345678901234567890")},
		",inf\r\n":                             resp.MakeDouble(inf),
		",-inf\r\n":                            resp.MakeDouble(-inf),
		",1.5e3\r\n":                           {Kind: resp.Double, Float: 1500, Str: []byte("1.5e3")},
	} {
		got, err := resp.NewReader(strings.NewReader(wire)).ReadReply()
		if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Errorf("%q is %#v, want %#v (%v)", wire, got, want, err)
		}
	}
}

// TestReadReplyRefuses does not trust the other side: neither its form, nor the
// lengths and the depth that it announces.
func TestReadReplyRefuses(t *testing.T) {
	for _, wire := range []string{
		"x\r\n", ":abc\r\n", ":\r\n", "$abc\r\n", "$-2\r\n", "*-2\r\n", "*x\r\n", ",abc\r\n", "$536870913\r\n",
		strings.Repeat("*1\r\n", 1000), "+" + strings.Repeat("x", 1<<20),
		// announced, and never sent
		"$536870912\r\nabc", "*2147483647\r\n:1\r\n", "%2147483647\r\n:1\r\n", "+OK", ":1\r",
	} {
		for name, arrive := range arrivals {
			if v, err := resp.NewReader(arrive(strings.NewReader(wire))).ReadReply(); err == nil || err == io.EOF {
				t.Errorf("%.40q %s: %v, %v", wire, name, v, err)
			}
		}
	}
}
