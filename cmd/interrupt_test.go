package cmd_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// typing runs meowdis with a stdin that stays open.
type typing struct {
	t      *testing.T
	run    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors bytes.Buffer
}

func startTyping(t *testing.T, args ...string) *typing {
	t.Helper()
	r := &typing{t: t, run: exec.Command("meowdis", args...)}
	r.run.Stderr = &r.errors
	r.run.Dir = t.TempDir()
	var err, err2 error
	r.in, err = r.run.StdinPipe()
	out, err2 := r.run.StdoutPipe()
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := r.run.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// types sends lines, and waits for as many lines of replies.
func (r *typing) types(lines ...string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, strings.Join(lines, "\n")+"\n"); err != nil {
		r.t.Fatal(err)
	}
	for range lines {
		if _, err := r.out.ReadString('\n'); err != nil {
			r.t.Fatalf("no reply: %v\n%s", err, r.errors.String())
		}
	}
}

// ends waits for the end, which must have the code and say all of the words on stderr.
func (r *typing) ends(code int, words ...string) {
	r.t.Helper()
	io.Copy(io.Discard, r.out)
	var exit *exec.ExitError
	if err := r.run.Wait(); !errors.As(err, &exit) || exit.ExitCode() != code {
		r.t.Errorf("ended with %v, not with exit code %d\n%s", err, code, r.errors.String())
	}
	for _, w := range words {
		if !strings.Contains(r.errors.String(), w) {
			r.t.Errorf("stderr has no %q:\n%s", w, r.errors.String())
		}
	}
}

func (r *typing) signal(s os.Signal) {
	r.t.Helper()
	if err := r.run.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

func TestInterruptedScript(t *testing.T) {
	t.Parallel()
	r := startTyping(t, "exec", "-t", "a.sqlite")
	r.types("SET a 1", "INCR a")
	r.signal(os.Interrupt)
	r.ends(130, "line 3: interrupted: the lines before it have run, it has not", "tail -n +3 SCRIPT | meowdis exec …")

	// The database and the transaction that it had come to are reported.
	r = startTyping(t, "exec", "-t", "a.sqlite")
	r.types("SELECT 3", "SET a 1", "MULTI", "INCR a")
	r.signal(syscall.SIGTERM)
	r.ends(143, "line 5: terminated: the lines before 3 have run, the transaction that it begins has not", "tail -n +3 SCRIPT | meowdis exec -n 3 …")
}

// After a server hangs up in the middle, whether one line took effect is not known.
func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flags []string
		words []string
	}{
		{nil, []string{"line 2: ", "it is unknown whether it took effect", "tail -n +2 SCRIPT | meowdis exec …"}},
		{[]string{"--pipe"}, []string{"line 2: ", "it is unknown whether it took effect", "tail -n +2 SCRIPT | meowdis exec --pipe …"}},
	} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		r := startTyping(t, append(append([]string{"exec"}, test.flags...), "-t", "redis://"+ln.Addr().String())...)
		if _, err := io.WriteString(r.in, "# a counter\nINCR n\n"); err != nil {
			t.Fatal(err)
		}
		if err := r.in.Close(); err != nil {
			t.Fatal(err)
		}
		conn, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(conn)
		for line := ""; line != "INCR\r\n"; {
			if line, err = in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if line == "CLIENT\r\n" || line == "HELLO\r\n" || line == "INFO\r\n" {
				conn.Write([]byte("-ERR unknown command\r\n"))
			}
		}
		conn.Close()
		r.ends(3, test.words...)
	}
}

// Ctrl-C while a server does not answer.
func TestInterruptedConnection(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	r := startTyping(t, "stats", "-t", "redis://"+ln.Addr().String())
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r.signal(os.Interrupt)
	r.ends(130, "interrupted")
	if strings.Contains(r.errors.String(), "context") {
		t.Errorf("stderr names a context:\n%s", r.errors.String())
	}
}
