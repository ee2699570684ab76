//go:build linux

package cmd_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// underSystemd runs meowdis serve as systemd does: with open sockets of these names, and a socket
// that hears of its state.
type underSystemd struct {
	t      *testing.T
	run    *exec.Cmd
	state  *net.UnixConn
	errors bytes.Buffer
}

func startUnderSystemd(t *testing.T, sockets map[string]net.Listener, args ...string) *underSystemd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	state, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	s := &underSystemd{t: t, state: state}
	s.run = exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ WATCHDOG_PID=$$ exec "$0" "$@"`, "meowdis", "serve"}, args...)...)
	var names []string
	for name, ln := range sockets {
		file, err := ln.(interface{ File() (*os.File, error) }).File()
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		names, s.run.ExtraFiles = append(names, name), append(s.run.ExtraFiles, file)
	}
	s.run.Env = append(os.Environ(), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=300000", "XDG_STATE_HOME="+t.TempDir(),
		"LISTEN_FDS="+string(rune('0'+len(names))), "LISTEN_FDNAMES="+strings.Join(names, ":"))
	s.run.Stderr = &s.errors
	if err := s.run.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// hears waits for a state.
func (s *underSystemd) hears(state string) {
	s.t.Helper()
	s.state.SetReadDeadline(time.Now().Add(patience))
	buf := make([]byte, 1000)
	for {
		n, err := s.state.Read(buf)
		if err != nil {
			s.run.Process.Kill()
			s.run.Wait()
			s.t.Fatalf("no %s: %v\n%s", state, err, s.errors.String())
		}
		if string(buf[:n]) == state {
			return
		}
	}
}

// TestSystemd serves the sockets that systemd has opened, and tells it how it goes.
func TestSystemd(t *testing.T) {
	t.Parallel()
	overRESP, overREST := listenLocally(t), listenLocally(t)
	s := startUnderSystemd(t, map[string]net.Listener{"resp": overRESP, "https": overREST}, "--tls-self-signed", ":memory:")
	s.hears("READY=1")
	s.hears("WATCHDOG=1")
	out, err := exec.Command("meowdis", "exec", "-t", "redis://"+overRESP.Addr().String(), "PING").CombinedOutput()
	if err != nil || string(out) != "PONG\n" {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := exec.Command("meowdis", "exec", "-t", "https://"+overREST.Addr().String(), "--token", "x", "--insecure", "PING").CombinedOutput(); err == nil || !strings.Contains(string(out), "WRONGPASS") {
		t.Errorf("%s, %v", out, err)
	}
	s.run.Process.Signal(syscall.SIGTERM)
	s.hears("STOPPING=1")
	if err := s.run.Wait(); err != nil {
		t.Errorf("%v: %s", err, s.errors.String())
	}
}

// TestSecondSignal ends a server at once that waits for a client.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	overRESP := listenLocally(t)
	s := startUnderSystemd(t, map[string]net.Listener{"resp": overRESP}, ":memory:")
	s.hears("READY=1")
	c, err := net.Dial("tcp", overRESP.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte("SETRANGE k 40000000 x\r\nGET k\r\n")) // whose reply it does not take
	if _, err := io.ReadFull(c, make([]byte, len(":40000001\r\n$"))); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.run.Wait() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		s.run.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			if status := s.run.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() {
				t.Errorf("it ended with %v", status)
			}
			return
		case <-tick.C:
		}
	}
}

// TestSocketOfUnknownName says how sockets are called.
func TestSocketOfUnknownName(t *testing.T) {
	t.Parallel()
	s := startUnderSystemd(t, map[string]net.Listener{"meowdis.socket": listenLocally(t)}, ":memory:")
	if err := s.run.Wait(); err == nil || !strings.Contains(s.errors.String(), "set FileDescriptorName= to http, https, resp, resp-tls, storage, storage-tls or metrics") {
		t.Errorf("%v: %s", err, s.errors.String())
	}
}

func listenLocally(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}
