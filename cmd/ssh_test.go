package cmd_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sshd is a server of ssh on loopback with keys of its own.
type sshd struct {
	dir string // with a program ssh that uses the configuration of the test
}

// startSSHD runs sshd until the test ends. The host "jump" is this machine, "stranger" has an unknown key, and "denied"
// refuses the user.
func startSSHD(t *testing.T) *sshd {
	t.Helper()
	program, err := exec.LookPath("sshd")
	if err != nil {
		program = "/usr/sbin/sshd"
	}
	client, noClient := exec.LookPath("ssh")
	if _, err := os.Stat(program); err != nil || noClient != nil {
		t.Skip("needs sshd, which .ci/setup gcc installs")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if me.Uid == "0" {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // sshd requires it
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "ssh") // a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, key := range []string{"host", "user", "other"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(key)).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	port := ""
	for port == "" { // below the range from which the system gives ports to other tests
		n := strconv.Itoa(10_000 + rand.IntN(20_000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+n); err == nil {
			l.Close()
			port = n
		}
	}
	meowdis, err := exec.LookPath("meowdis")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("sshd_config", fmt.Sprintf("Port %s\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nUsePAM no\n"+
		"PasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 100\nLoginGraceTime 600\nSetEnv PATH=%s:/usr/bin:/bin HOME=%s\n",
		port, at("host"), at("user.pub"), filepath.Dir(meowdis), dir), 0o600)
	key, err := os.ReadFile(at("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write("known", fmt.Sprintf("[127.0.0.1]:%s %s", port, key), 0o600)
	write("none", "", 0o600)
	write("ssh_config", fmt.Sprintf("Host *\n HostName 127.0.0.1\n Port %s\n User %s\n BatchMode yes\n IdentitiesOnly yes\n StrictHostKeyChecking yes\n LogLevel ERROR\n"+
		"Host stranger\n UserKnownHostsFile %s\nHost denied\n IdentityFile %s\nHost * !denied\n IdentityFile %s\nHost *\n UserKnownHostsFile %s\n",
		port, me.Username, at("none"), at("other"), at("user"), at("known")), 0o600)
	write("ssh", fmt.Sprintf("#!/bin/sh\nexec %s -F %s \"$@\"\n", client, at("ssh_config")), 0o700)
	cmd := exec.Command(program, "-D", "-e", "-f", at("sshd_config"))
	said := &bytes.Buffer{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for deadline := time.Now().Add(patience); ; <-time.After(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			c.Close()
			return &sshd{dir}
		}
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			cmd.Wait()
			t.Fatalf("sshd does not start: %s", said)
		}
	}
}

// run runs meowdis with the program ssh of the test.
func (d *sshd) run(m mover, code int, args ...string) string {
	m.t.Helper()
	return d.withPath(m, d.dir+string(filepath.ListSeparator)+os.Getenv("PATH"), code, args...)
}

func (d *sshd) withPath(m mover, path string, code int, args ...string) string {
	m.t.Helper()
	c, said := m.command(args...)
	c.Env = append(c.Env, "PATH="+path)
	c.Run()
	if got := c.ProcessState.ExitCode(); got != code {
		m.t.Fatalf("meowdis %q: %d, not %d: %s", args, got, code, said)
	}
	return said.String()
}

// TestSSH reaches servers and files on the other side of ssh.
func TestSSH(t *testing.T) {
	t.Parallel()
	d, m := startSSHD(t), mover{t, t.TempDir()}
	rest, redis := serveMemory(t)
	there := filepath.Join(t.TempDir(), "cat's.sqlite")
	file := "ssh://jump" + strings.ReplaceAll(there, "'", "%27")
	for _, step := range []struct {
		args []string
		says string
	}{
		{[]string{"exec", "-t", "ssh://jump/" + redis, "SET", "cat", "Tom"}, "OK"},
		{[]string{"exec", "--ssh", "jump", "-t", redis, "GET", "cat"}, "Tom"},
		{[]string{"exec", "--ssh", "jump", "-t", rest, "GET", "cat"}, "Tom"},
		{[]string{"keys", "ssh://jump/" + redis}, "cat"},
		{[]string{"exec", "-t", file, "GET", "cat"}, ""},
		{[]string{"exec", "-t", file, "RPUSH", "cats", "Tom", "Kitty"}, "2"},
		{[]string{"status", "-t", file}, "SQLite file over SSH"},
		{[]string{"exec", "-t", file + "?db=3", "SET", "third", "x"}, "OK"},
		{[]string{"exec", "-t", there, "LRANGE", "cats", "0", "-1"}, "Kitty"},
		{[]string{"copy", "ssh://jump/" + redis, file}, "copied 1 key"},
		{[]string{"copy", file, "here.sqlite"}, "copied 3 keys"},
		{[]string{"diff", file, "here.sqlite"}, ""},
		{[]string{"diff", file, there}, ""},
		{[]string{"dump", file, "cats.archive"}, "3 keys"},
		{[]string{"peek", "-t", file, "cats"}, "Kitty"},
		{[]string{"exec", "-t", file + "?meowdis=" + meowdisPath(t), "PING"}, "PONG"},
	} {
		if said := strings.TrimSpace(d.run(m, 0, step.args...)); !strings.Contains(said, step.says) || step.says == "" && said != "" && step.args[0] != "exec" {
			t.Errorf("meowdis %q says, rather than %q:\n%s", step.args, step.says, said)
		}
	}
	const closed = "127.0.0.1:1"
	for _, step := range []struct {
		code int
		args []string
		says string
	}{
		{3, []string{"exec", "-t", "ssh://stranger/" + redis, "PING"}, "the key of the host is not known or has changed: run ssh stranger once"},
		{3, []string{"exec", "-t", "ssh://denied" + there, "PING"}, "Permission denied"},
		{3, []string{"exec", "-t", "ssh://jump/redis://" + closed, "PING"}, closed + " cannot be connected to from there"},
		{3, []string{"exec", "-t", file + "?meowdis=/nowhere/meowdis", "PING"}, "meowdis is not on the PATH there"},
		{3, []string{"copy", "ssh://jump" + there + ".missing", "x.sqlite"}, "no such file"},
		{2, []string{"exec", "-t", "ssh://-oProxyCommand=touch%20x/" + redis, "PING"}, "give [USER@]HOST[:PORT]"},
		{2, []string{"exec", "-t", "ssh://me:secret@jump/" + redis, "PING"}, "ssh asks for a password itself"},
		{2, []string{"exec", "-t", "ssh://jump/ssh://jump/" + redis, "PING"}, "set ProxyJump"},
		{2, []string{"exec", "--ssh", "jump", "-t", "here.sqlite", "PING"}, "--ssh is for servers"},
		{2, []string{"exec", "-t", "ssh://jump", "PING"}, "give ssh://HOST/PATH"},
	} {
		if said := d.run(m, step.code, step.args...); !strings.Contains(said, step.says) || strings.Contains(said, "secret") {
			t.Errorf("meowdis %q says, rather than %q:\n%s", step.args, step.says, said)
		}
	}
	old := filepath.Join(d.dir, "old")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho 'meowdis: unknown flag: --stdio' >&2\nexit 2\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if said := d.run(m, 3, "exec", "-t", file+"?meowdis="+old, "PING"); !strings.Contains(said, "is another version, without serve --stdio") {
		t.Error(said)
	}
	if said := d.withPath(m, filepath.Dir(meowdisPath(t)), 3, "exec", "-t", file, "PING"); !strings.Contains(said, "ssh is not installed") {
		t.Error(said)
	}
	if said := d.run(m, 3, "exec", "-v", "-t", "ssh://jump/"+strings.Replace(redis, "redis://", "redis://cat:secret@", 1), "PING"); strings.Contains(said, "secret") {
		t.Error(said)
	}
}

func meowdisPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("meowdis")
	if err != nil {
		t.Fatal(err)
	}
	return path
}
