package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/store"
)

// Host is a machine that ssh reaches: [USER@]HOST[:PORT]. HOST may be an alias of ssh's configuration.
type Host struct {
	destination string // for ssh: without the port
	port        string // "" for the configuration's
}

// Parse parses [USER@]HOST[:PORT]. It refuses texts that ssh would read as options.
func Parse(text string) (Host, error) {
	user, host, hasUser := "", text, false
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		user, host, hasUser = text[:at], text[at+1:], true
	}
	var h Host
	if name, port, err := net.SplitHostPort(host); err == nil {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return h, errors.New("ports are numbers from 1 to 65535")
		}
		host, h.port = name, port
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	switch {
	case host == "" || hasUser && user == "":
		return h, errors.New("give [USER@]HOST[:PORT]")
	case strings.ContainsRune(user, ':'):
		return h, errors.New("ssh asks for a password itself: leave it out")
	case strings.HasPrefix(host, "-") || strings.HasPrefix(user, "-") || strings.ContainsAny(text, " \t\n'\"\\$`"):
		return h, errors.New("give [USER@]HOST[:PORT]")
	}
	h.destination = host
	if hasUser {
		h.destination = user + "@" + host
	}
	return h, nil
}

// String returns [USER@]HOST[:PORT].
func (h Host) String() string {
	if h.port == "" {
		return h.destination
	}
	user, host, hasUser := strings.Cut(h.destination, "@")
	if !hasUser {
		user, host = "", user
	} else {
		user += "@"
	}
	return user + net.JoinHostPort(host, h.port)
}

// Dial connects to an address as the host reaches it. A failure of ssh is an error of the first Read.
func (h Host) Dial(_ context.Context, network, address string) (net.Conn, error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil, fmt.Errorf("ssh forwards no %s sockets to %s", network, address)
	}
	return h.start("", address, "-W", address)
}

// File is a file on a host, which meowdis serves there.
type File struct {
	Host     Host
	Path     string
	Program  string // meowdis there; "" finds it on the PATH
	Existing bool   // a missing file is an error
}

// Dial starts meowdis on the file, whatever the address.
func (f File) Dial(context.Context, string, string) (net.Conn, error) {
	program := "meowdis"
	if f.Program != "" {
		program = f.Program
	}
	command := quote(program) + " serve --stdio"
	if f.Existing {
		command += " --existing"
	}
	return f.Host.start(command+" -t "+quote(f.Path), "", "-T")
}

// quote quotes a word for the shell there.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// start runs ssh, with a command there unless it is "", or to forward to address.
func (h Host) start(command, address string, options ...string) (net.Conn, error) {
	args := options
	if h.port != "" {
		args = append(args, "-p", h.port)
	}
	args = append(args, "--", h.destination)
	if command != "" {
		args = append(args, command)
	}
	cmd := exec.Command("ssh", args...)
	if errors.Is(cmd.Err, exec.ErrNotFound) {
		return nil, &Error{says: "ssh is not installed: it is not on the PATH", unreachable: true}
	}
	ours, theirs := net.Pipe()
	c := &conn{Conn: ours, host: h, address: address, program: command != "", cmd: cmd, ended: make(chan struct{})}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = &c.said
	if err := cmd.Start(); err != nil {
		return nil, &Error{says: fmt.Sprintf("running ssh: %v", err), unreachable: true}
	}
	go store.Caught(func() error {
		defer in.Close()
		_, err := io.Copy(in, theirs)
		return err
	})
	go store.Caught(func() error {
		defer theirs.Close()
		defer close(c.ended)
		_, err := io.Copy(theirs, out)
		if err != nil { // the connection was closed
			io.Copy(io.Discard, out)
		}
		if failed := cmd.Wait(); failed != nil {
			c.err = c.explain(failed)
		}
		return nil
	})
	return c, nil
}

// conn connects over the standard streams of ssh.
type conn struct {
	net.Conn // one end of a pipe; the other is copied from and to the process
	host     Host
	address  string // "" with a program
	program  bool   // meowdis runs there
	cmd      *exec.Cmd
	said     tail
	ended    chan struct{} // closed after the process has ended
	err      error         // why it failed; read it after ended
	close    sync.Once
}

// Read reads. At the end of a process that failed it returns an *Error.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, c.cause(err)
}

// Write writes. After the end of a process that failed it returns an *Error.
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, c.cause(err)
}

func (c *conn) cause(err error) error {
	if err != io.EOF && err != io.ErrClosedPipe {
		return err
	}
	select {
	case <-c.ended:
		if c.err != nil {
			return c.err
		}
	default: // closed by this side
	}
	return err
}

// A process is killed closeTime after the end of its input.
const closeTime = 3 * time.Second

// Close ends the process. It waits for it, so that a file there is closed.
func (c *conn) Close() error {
	c.close.Do(func() {
		c.Conn.Close()
		kill := time.AfterFunc(closeTime, func() { c.cmd.Process.Kill() })
		<-c.ended
		kill.Stop()
	})
	return nil
}

// Error is a failure of ssh, or of meowdis there.
type Error struct {
	says        string
	unreachable bool
}

func (e *Error) Error() string { return e.says }

// Is reports that no command was sent, for remote.ErrUnreachable.
func (e *Error) Is(target error) bool { return e.unreachable && target == remote.ErrUnreachable }

// explain returns an error for a process that has failed.
func (c *conn) explain(failed error) error {
	said := c.said.String()
	has := func(text string) bool { return strings.Contains(said, text) }
	var ended *exec.ExitError
	code := -1
	if errors.As(failed, &ended) {
		code = ended.ExitCode()
	}
	switch {
	case has("Host key verification failed"), has("HOST IDENTIFICATION HAS CHANGED"):
		return &Error{fmt.Sprintf("ssh %s: the key of the host is not known or has changed: run ssh %[1]s once, and check it (%s)", c.host, said), true}
	case c.program && code == 127:
		return &Error{fmt.Sprintf("ssh %s: meowdis is not on the PATH there: install it, or give its path as in ssh://%[1]s/FILE?meowdis=/opt/meowdis (%s)", c.host, said), true}
	case c.program && has("unknown flag"):
		return &Error{fmt.Sprintf("ssh %s: the meowdis there is another version, without serve --stdio: install this version (%s)", c.host, said), true}
	case has("stdio forwarding failed"):
		return &Error{fmt.Sprintf("ssh %s: %s cannot be connected to from there (%s)", c.host, c.address, said), true}
	case said == "":
		said = failed.Error()
	}
	// ssh itself ends with 255. Before it is connected, nothing was sent.
	before := code == 255 && (has("Permission denied") || has("Could not resolve") || has("Connection refused") || has("Connection timed out") || has("No route to host"))
	return &Error{fmt.Sprintf("ssh %s: %s", c.host, said), before || c.program && code != 255}
}

// tail keeps the last bytes that a process wrote to stderr.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailBytes = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	if len(t.last) > tailBytes {
		t.last = append([]byte(nil), t.last[len(t.last)-tailBytes:]...)
	}
	return len(b), nil
}

// String returns the last lines as one.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for line := range bytes.Lines(t.last) {
		if text := strings.TrimSpace(string(line)); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}
