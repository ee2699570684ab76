package psync

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// master serves one connection with a script, and returns the received commands when the connection ends.
func master(t *testing.T, serve func(say func(format string, args ...any), hear func(want string))) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	in := resp.NewReader(theirs)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer theirs.Close()
		serve(func(format string, args ...any) { fmt.Fprintf(theirs, format, args...) }, func(want string) {
			args, err := in.ReadCommand()
			if got := string(bytes.Join(args, []byte(" "))); err != nil || got != want {
				t.Errorf("received %q, %v, not %q", got, err, want)
			}
		})
	}()
	t.Cleanup(func() {
		ours.Close()
		<-ended
	})
	return ours
}

func greet(say func(string, ...any), hear func(string)) {
	hear("PING")
	say("+PONG\r\n")
	hear("REPLCONF capa eof capa psync2 capa meowdis-modules")
	say("+OK\r\n")
}

// TestSnapshots reads both forms of a snapshot, and the commands after it with their offsets.
func TestSnapshots(t *testing.T) {
	const data = "REDIS0011 and so on"
	mark := strings.Repeat("m", markLength)
	for name, snapshot := range map[string]string{
		"length": fmt.Sprintf("$%d\r\n%s", len(data), data),
		"mark":   "$EOF:" + mark + "\r\n" + data + mark,
		"mostly": "\n$EOF:" + mark + "\r\n" + data + mark[1:] + data + mark,
		"empty":  "$0\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{"mostly": data + mark[1:] + data, "empty": ""}
			said, special := want[name]
			if !special {
				said = data
			}
			conn := master(t, func(say func(string, ...any), hear func(string)) {
				greet(say, hear)
				hear("PSYNC ? -1")
				say("\n\n+FULLRESYNC %s 100\r\n\n", strings.Repeat("a", 40))
				for _, b := range []byte(snapshot) { // in the smallest pieces
					say("%c", b)
				}
				hear("REPLCONF ACK 100")
				say("%s", resp.AppendCommand(nil, []byte("SET"), []byte("k"), []byte("v")))
				hear("REPLCONF ACK 127")
				say("*1\r\n$4\r\nPI")
			})
			s, err := Start(t.Context(), conn, Position{}, Options{Dir: t.TempDir(), Memory: 8, Acknowledge: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(s.Snapshot())
			if err != nil || string(got) != said {
				t.Errorf("%q, %v", got, err)
			}
			c, err := s.Next()
			if err != nil || len(c.Args) != 3 || c.End != 127 || s.At.Offset != 100 || !s.Full {
				t.Errorf("%q to %d, %v", c.Args, c.End, err)
			}
			s.Applied(c.End)
			if err := s.Acknowledge(); err != nil {
				t.Error(err)
			}
			if c, err := s.Next(); err == nil {
				t.Errorf("half a command is %q", c.Args)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHandshakes continues a stream, also of a server that was promoted, and distinguishes refusals that pass.
func TestHandshakes(t *testing.T) {
	id, other := strings.Repeat("a", 40), strings.Repeat("b", 40)
	var refused *RefusedError
	for _, test := range []struct {
		reply, id string
		refused   bool // for ever
	}{
		{"+CONTINUE", id, false},
		{"+CONTINUE " + other, other, false},
		{"-NOMASTERLINK Can't SYNC while not connected with my master", "", false},
		{"-LOADING Redis is loading the dataset in memory", "", false},
		{"-ERR unknown command 'PSYNC'", "", true},
		{"-NOPERM this user has no permissions to run the 'psync' command", "", true},
		{"+FULLRESYNC x", "", false},
		{"+FULLRESYNC x -7", "", false},
		{":1", "", false},
	} {
		conn := master(t, func(say func(string, ...any), hear func(string)) {
			greet(say, hear)
			hear("PSYNC " + id + " 8")
			say("%s\r\n", test.reply)
			if test.id != "" {
				hear("REPLCONF ACK 7")
			}
		})
		s, err := Start(t.Context(), conn, Position{id, 7}, Options{})
		if (err == nil) != (test.id != "") || errors.As(err, &refused) != test.refused {
			t.Errorf("%s: %v", test.reply, err)
		}
		if err != nil {
			continue
		}
		if s.Full || s.At != (Position{test.id, 7}) {
			t.Errorf("%s: %v, %v", test.reply, s.At, s.Full)
		}
		if _, err := s.Next(); err == nil { // the script has ended, after the acknowledgement
			t.Error("a closed connection goes on")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSpool passes random bytes in random pieces, with files far smaller than the data.
func TestSpool(t *testing.T) {
	dir := t.TempDir()
	s := newSpool(dir, 100)
	s.segment = 1000
	data := make([]byte, 100_000)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	go func() {
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 1+rand.IntN(300))
			if err := s.write(rest[:n]); err != nil {
				t.Error(err)
			}
			rest = rest[n:]
		}
		s.close(io.EOF)
	}()
	got, err := io.ReadAll(bufio.NewReaderSize(s, 170))
	if err != nil || !bytes.Equal(got, data) || s.size() != 0 {
		t.Errorf("%d bytes, %v, %d are left", len(got), err, s.size())
	}
	if err := s.write(make([]byte, 5000)); err != nil {
		t.Error(err)
	}
	if err := s.remove(); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Error(files, err)
	}
}
