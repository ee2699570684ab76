package cmd_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecretsStayWhereTheyAre searches for a token in all that verbs print, whether
// they reach their target or not, and in all files that they leave.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-purr"
	dir := t.TempDir()
	rest, _ := serveMemory(t)
	var said bytes.Buffer
	run := func(input string, env []string, args ...string) {
		t.Helper()
		c := exec.Command("meowdis", args...)
		c.Dir, c.Stdin, c.Stdout, c.Stderr = dir, strings.NewReader(input), &said, &said
		c.Env = append(append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir+"/config", "XDG_STATE_HOME="+dir+"/state",
			"XDG_DATA_HOME="+dir+"/data", "MEOWDIS_KEYRING=off"), env...)
		c.Run() // most of them fail
	}
	run(secret, nil, "profile", "add", "refused", "-t", rest, "--token-stdin")
	run(secret, nil, "profile", "add", "dead", "-t", "http://127.0.0.1:1/path?_token="+secret, "--token-stdin")
	run("", nil, "profile", "add", "redis", "-t", "redis://cat:"+secret+"@127.0.0.1:1/2")
	run("", nil, "exec", "-t", "a.sqlite", "SET", "k", "v")
	run("", nil, "dump", "-t", "a.sqlite", "a.archive")
	for _, name := range []string{"refused", "dead", "redis"} {
		run("", nil, "profile", "show", name)
		for _, args := range [][]string{
			{"status", "@" + name}, {"status", "--json", "@" + name}, {"exec", "-v", "-t", "@" + name, "PING"}, {"keys", "-v", "-t", "@" + name},
			{"copy", "a.sqlite", "@" + name, "--yes"}, {"copy", "@" + name, "b.sqlite"}, {"diff", "a.sqlite", "@" + name},
			{"restore", "--yes", "-t", "@" + name, "a.archive"}, {"dump", "-t", "@" + name, "b.archive"}, {"doctor", "@" + name},
			{"exec", "--dry-run", "-t", "@" + name, "GET", "k"}, {"latency", "--limit", "1", "-t", "@" + name}, {"serve", "@" + name},
		} {
			run("", nil, args...)
		}
		run("GET k\nAUTH "+secret+"\nCONFIG SET requirepass "+secret+"\n", nil, "repl", "-t", "@"+name)
	}
	run("", nil, "profile", "list", "--json")
	for _, env := range []string{
		"MEOWDIS_URL=redis://:" + secret + "@127.0.0.1:1", "MEOWDIS_URL=redis://:" + secret + "@127.0.0.1:port", "MEOWDIS_URL=http://x:" + secret + "@127.0.0.1:1",
		"UPSTASH_REDIS_REST_URL=https://127.0.0.1:1?_token=" + secret,
	} {
		run("", []string{env, "UPSTASH_REDIS_REST_TOKEN=" + secret, "MEOWDIS_TOKEN=" + secret}, "status")
		run("", []string{env, "UPSTASH_REDIS_REST_TOKEN=" + secret, "MEOWDIS_TOKEN=" + secret}, "exec", "-v", "GET", "k")
	}
	if at := bytes.Index(said.Bytes(), []byte(secret)); at >= 0 {
		t.Errorf("it was printed: …%s", said.Bytes()[max(0, at-300):min(said.Len(), at+100)])
	}
	if said.Len() < 2000 {
		t.Errorf("hardly anything was printed: %s", &said)
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "config.toml") {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("it is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestExamplesShowNoToken keeps tokens off the command lines that people copy.
func TestExamplesShowNoToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("meowdis", "man", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%q, %v", pages, err)
	}
	shown := regexp.MustCompile(`meowdis .*-token [^-]|://[^/ ]*:[^/ ]*@example`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if shown.MatchString(strings.ReplaceAll(line, `\-`, "-")) {
				t.Errorf("%s: %s", filepath.Base(page), line)
			}
		}
	}
}
