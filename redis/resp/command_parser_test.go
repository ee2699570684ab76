package resp

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/iotest"
)

// Commands of every size come out as they went in, however the bytes are cut on
// the way, and none is overwritten by a later one.
func TestReadCommand(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var want [][][]byte
	var sent []byte
	for i := range 3000 {
		args := [][]byte{[]byte("CMD"), fmt.Append(nil, i)}
		for range random.IntN(5) {
			args = append(args, bytes.Repeat([]byte{byte(i)}, random.IntN(40)))
		}
		if i%500 == 0 {
			args = append(args, bytes.Repeat([]byte("\r\n"), 40_000))
			args = append(args, make([][]byte, 2000)...)
		}
		for j := range args {
			if args[j] == nil {
				args[j] = []byte{}
			}
		}
		want = append(want, args)
		sent = AppendCommand(sent, args...)
		switch i % 7 {
		case 0:
			sent = append(sent, "\r\n"...)
		case 1:
			sent = append(sent, "*0\r\n"...)
		case 2:
			sent = append(sent, "inline 'a b'\r\n"...)
			want = append(want, [][]byte{[]byte("inline"), []byte("a b")})
		}
	}
	for name, r := range map[string]io.Reader{
		"whole": bytes.NewReader(sent),
		"bytes": iotest.OneByteReader(bytes.NewReader(sent)),
		"parts": &partReader{bytes.NewReader(sent), random},
	} {
		t.Run(name, func(t *testing.T) {
			in := NewReader(r)
			var got [][][]byte
			for {
				args, err := in.ReadCommand()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("after %d commands: %v", len(got), err)
				}
				got = append(got, args)
			}
			if !reflect.DeepEqual(got, want) {
				t.Error("the commands are not those that were sent")
			}
		})
	}
}

// partReader reads as a network does, a few bytes or many.
type partReader struct {
	r      io.Reader
	random *rand.Rand
}

func (p *partReader) Read(b []byte) (int, error) {
	return p.r.Read(b[:min(len(b), 1+p.random.IntN(3000))])
}

func TestReadCommandBroken(t *testing.T) {
	for sent, want := range map[string]string{
		"*1\r\n$4\r\nPI":                 "unexpected EOF",
		"*2\r\n$4\r\nPING\r\n":           "unexpected EOF",
		"*1\r\n+PING\r\n":                "Protocol error: expected '$', got '+'",
		"*1\r\n$-1\r\n":                  "Protocol error: invalid bulk length",
		"*9999999999\r\n":                "Protocol error: invalid multibulk length",
		"*1\r\n$536870913\r\n":           "Protocol error: invalid bulk length",
		"say \"it\r\n":                   "Protocol error: unbalanced quotes in request",
		string(make([]byte, 1e5)):        "Protocol error: too big inline request",
		"*1" + string(make([]byte, 1e5)): "Protocol error: too big mbulk count string",
	} {
		if _, err := NewReader(bytes.NewReader([]byte(sent))).ReadCommand(); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", sent, err, want)
		}
	}
}

func TestStranger(t *testing.T) {
	for sent, want := range map[string]string{
		"*11\r\n":          "Protocol error: unauthenticated multibulk length",
		"*1\r\n$16385\r\n": "Protocol error: unauthenticated bulk length",
	} {
		r := NewReader(bytes.NewReader([]byte(sent)))
		r.Unauthenticated(true)
		if _, err := r.ReadCommand(); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", sent, err, want)
		}
	}
	r := NewReader(bytes.NewReader([]byte("*2\r\n$4\r\nAUTH\r\n$1\r\nx\r\n")))
	r.Unauthenticated(true)
	if args, err := r.ReadCommand(); err != nil || len(args) != 2 {
		t.Errorf("AUTH of a stranger: %q, %v", args, err)
	}
}

func BenchmarkReadCommand(b *testing.B) {
	one := AppendCommand(nil, []byte("SET"), []byte("key:000000000001"), []byte("xxx"))
	sent := bytes.Repeat(one, 1000)
	source := bytes.NewReader(nil)
	r := NewReader(source)
	b.ReportAllocs()
	for i := range b.N {
		if i%1000 == 0 {
			source.Reset(sent)
		}
		if _, err := r.ReadCommand(); err != nil {
			b.Fatal(err)
		}
	}
}
