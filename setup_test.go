package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetup runs .ci/setup on machines that lack all programs, so that it can only say what to install.
func TestSetup(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	const apt = "install these first: sudo apt-get install -y redis-server redis-tools tmux nodejs npm sqlite3 lua5.1 curl"
	const asked = "apt-get update -qq\napt-get install -y -qq --no-install-recommends redis-server redis-tools tmux nodejs npm sqlite3 lua5.1 curl"
	for _, test := range []struct {
		name  string
		tools map[string]string // bodies of scripts
		args  []string
		says  string   // the beginning of its only line
		names []string // what else the line names
		runs  string   // the beginning of what it ran
	}{
		{"no apt-get", map[string]string{"uname": "echo Linux"}, nil, apt, []string{" ruby-sidekiq"}, ""},
		{"a compiler", map[string]string{"uname": "echo Linux"}, []string{"gcc"}, apt + " gcc libc6-dev", nil, ""},
		{"macOS", map[string]string{"uname": "echo Darwin"}, nil, "install these first: brew install redis tmux node sqlite lua@5.1 curl", []string{" && gem install sidekiq"}, ""},
		{"no right", map[string]string{"uname": "echo Linux", "id": "echo 1000", "sudo": "exit 1", "apt-get": ""}, nil, apt, nil, ""},
		{"root", map[string]string{"uname": "echo Linux", "id": "echo 0", "apt-get": ""}, nil, apt, nil, asked},
		{"sudo", map[string]string{"uname": "echo Linux", "id": "echo 1000", "sudo": `shift; exec "$@"`, "apt-get": ""}, nil, apt, nil, asked},
		{"offline", map[string]string{"uname": "echo Linux", "id": "echo 0", "apt-get": "exit 1"}, nil, apt, nil, "apt-get update -qq\n"},
		{"no Go", map[string]string{"go": ""}, nil, "install Go first: https://go.dev/dl/", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			ran := filepath.Join(dir, "ran")
			tool := func(name, body string) {
				if name == "apt-get" {
					body = `echo "apt-get $*" >>"$RAN"` + "\n" + body
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte("#!"+bash+"\n"+body+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			tool("env", `while [[ $1 = *=* ]]; do shift; done; exec "$@"`)
			tool("true", "exit 0")
			if _, without := test.tools["go"]; !without {
				tool("go", "exit 1")
			}
			for name, body := range test.tools {
				if name != "go" {
					tool(name, body)
				}
			}
			cmd := exec.Command(bash, append([]string{".ci/setup"}, test.args...)...)
			cmd.Env = []string{"PATH=" + dir, "RAN=" + ran}
			out, err := cmd.CombinedOutput()
			says, rest, _ := strings.Cut(string(out), "\n")
			if err == nil || rest != "" || !strings.HasPrefix(says, test.says) {
				t.Errorf("it ended with %v and said\n%s", err, out)
			}
			for _, name := range test.names {
				if !strings.Contains(says, name) {
					t.Errorf("%q is missing in %s", name, says)
				}
			}
			if log, _ := os.ReadFile(ran); !strings.HasPrefix(string(log), test.runs) || test.runs == "" && len(log) > 0 {
				t.Errorf("it ran\n%s", log)
			}
		})
	}
}
