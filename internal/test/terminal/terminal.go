// Package terminal runs programs in a real terminal, a private tmux session, for tests and for
// the pictures in the documentation.
package terminal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/meowdis/meowdis/internal/test/hermetic"
)

// Session is a tmux server with one window.
type Session struct {
	dir, socket string
	control     *control
}

// Start runs a POSIX shell in a terminal of the given size, with env added to
// an environment that has little else.
func Start(columns, rows int, env ...string) (*Session, error) {
	if _, err := exec.LookPath("tmux"); err != nil {
		return nil, errors.New("this drives a real terminal: install tmux (Debian: apt-get install tmux; macOS: brew install tmux)")
	}
	dir, err := os.MkdirTemp("", "terminal")
	if err != nil {
		return nil, err
	}
	s := &Session{dir: dir, socket: filepath.Join(dir, "tmux.sock")}
	args := []string{"-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows)}
	// tmux changes PATH in an environment passed to it.
	args = append(append(args, "env", "PS1=$ ", "ENV=", "LC_ALL=C.UTF-8"), env...)
	if _, err := s.tmux(append(args, "/bin/sh")...); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	// Copied text goes to tmux's buffer, and Escape is recognised without delay.
	if _, err := s.tmux("set-option", "-g", "status", "off", ";", "set-option", "-s", "set-clipboard", "on",
		";", "set-option", "-s", "escape-time", "10"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.control, err = attach(s.socket); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the session and everything that runs in it.
func (s *Session) Close() error {
	_, err := s.tmux("kill-server")
	if s.control != nil {
		s.control.wait()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

func (s *Session) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", s.socket}, args...)...)
	cmd.Env = hermetic.Environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

// Type types text as it is.
func (s *Session) Type(text string) error {
	_, err := s.control.do("send-keys", "-l", "--", text)
	return err
}

// Send sends bytes in one piece, like a terminal's mouse report.
func (s *Session) Send(bytes string) error {
	if _, err := s.control.do("set-buffer", "-b", "sent", "--", bytes); err != nil {
		return err
	}
	_, err := s.control.do("paste-buffer", "-r", "-d", "-b", "sent")
	return err
}

// Press presses keys by their tmux names: "Enter", "C-c", "Escape", "Down".
func (s *Session) Press(keys ...string) error {
	_, err := s.control.do(append([]string{"send-keys"}, keys...)...)
	return err
}

// Run types a line and presses Enter.
func (s *Session) Run(line string) error {
	return errors.Join(s.Type(line), s.Press("Enter"))
}

// Resize resizes the terminal, and waits until its programs are notified: tmux delays
// consecutive changes of size.
func (s *Session) Resize(columns, rows int) error {
	path, err := s.tmux("resize-window", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), ";", "display-message", "-p", "#{pane_tty}")
	if err != nil {
		return err
	}
	tty, err := os.OpenFile(strings.TrimSpace(path), os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer tty.Close()
	for deadline := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) {
		w, h, err := term.GetSize(int(tty.Fd()))
		if err != nil || w == columns && h == rows {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the terminal stays at %d×%d", w, h)
		}
	}
}

// Screen returns the text of the screen, without colours and trailing blanks.
func (s *Session) Screen() (string, error) { return s.control.do("capture-pane", "-p") }

// Coloured returns the screen with its colour escape sequences.
func (s *Session) Coloured() (string, error) { return s.control.do("capture-pane", "-p", "-e") }

// Clipboard returns the last text that a program copied, or an error if none did.
func (s *Session) Clipboard() (string, error) { return s.tmux("show-buffer") }

// Record writes all further output of the terminal to a file.
func (s *Session) Record(file string) error {
	_, err := s.tmux("pipe-pane", "exec cat > '"+file+"'")
	return err
}

// Background sets the background colour that the terminal reports.
func (s *Session) Background(colour string) error {
	_, err := s.tmux("set-option", "-g", "window-style", "bg="+colour)
	return err
}

// patience limits Wait. It is long enough for a slow, busy machine.
const patience = 3 * time.Minute

// Wait waits until the screen satisfies ok, and returns it. The error shows the
// last screen.
func (s *Session) Wait(what string, ok func(screen string) bool) (string, error) {
	for deadline := time.Now().Add(patience); ; {
		screen, err := s.Screen()
		if err != nil || ok(screen) {
			return screen, err
		}
		if time.Now().After(deadline) {
			return screen, fmt.Errorf("timed out waiting for %s; the screen shows:\n%s", what, screen)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// WaitFor waits until the screen shows text.
func (s *Session) WaitFor(text string) (string, error) {
	return s.Wait(strconv.Quote(text), func(screen string) bool { return strings.Contains(screen, text) })
}
