package terminal

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/meowdis/meowdis/internal/test/hermetic"
)

// control sends commands to a tmux server, from one client in tmux's control mode. A process for each key and each look
// at the screen would take most of a test's time.
type control struct {
	cmd *exec.Cmd
	mu  sync.Mutex // one command at a time
	in  io.WriteCloser
	out *bufio.Reader
}

// attach starts the client. It has no size, so the window keeps its own.
func attach(socket string) (*control, error) {
	c := &control{cmd: exec.Command("tmux", "-u", "-S", socket, "-C", "attach-session", "-f", "no-output,ignore-size")}
	c.cmd.Env = hermetic.Environ()
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := c.reply(); err != nil { // to attach-session
		c.in.Close()
		c.wait()
		return nil, fmt.Errorf("tmux attach-session: %w", err)
	}
	return c, nil
}

// wait waits for the end of the client, which ends with its server.
func (c *control) wait() {
	io.Copy(io.Discard, c.out)
	c.cmd.Wait() // its exit code says nothing about the test
}

// do runs a tmux command and returns its output.
func (c *control) do(args ...string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var line strings.Builder
	for _, arg := range args {
		quote(&line, arg)
	}
	if _, err := io.WriteString(c.in, line.String()+"\n"); err != nil {
		return "", fmt.Errorf("tmux %s: %w", args[0], err)
	}
	out, err := c.reply()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w", args[0], err)
	}
	return out, nil
}

// reply reads the next reply, which is between "%begin ID" and "%end ID" or "%error ID". It skips notifications.
func (c *control) reply() (string, error) {
	var out strings.Builder
	id, begun := "", false
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			return "", err
		}
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case !begun:
			id, begun = rest, word == "%begin"
		case word == "%end" && rest == id:
			return out.String(), nil
		case word == "%error" && rest == id:
			return "", fmt.Errorf("%s", strings.TrimSpace(out.String()))
		default:
			out.WriteString(line)
		}
	}
}

// quote writes an argument of a tmux command, which may contain any byte but 0.
func quote(line *strings.Builder, arg string) {
	line.WriteString(` "`)
	for _, b := range []byte(arg) {
		if b < ' ' || b == 0x7f || strings.IndexByte("\"\\$~#{};'", b) >= 0 {
			fmt.Fprintf(line, `\%03o`, b)
			continue
		}
		line.WriteByte(b)
	}
	line.WriteByte('"')
}
