package server_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// ownDefaults lists the parameters whose default depends on the machine or on the test's servers.
var ownDefaults = strings.Fields(`bind dbfilename dir enable-debug-command maxclients port protected-mode save unixsocket sanitize-dump-payload`)

// ownValues lists the parameters whose allowed values differ from Redis's, or that would disturb the test: addresses,
// growing files, the process, the memory allocator, open files, TLS.
var ownValues = strings.Fields(`activedefrag appendonly bind jemalloc-bg-thread maxclients maxmemory-policy notify-keyspace-events oom-score-adj
	port proto-max-bulk-len requirepass tls-auth-clients tls-ca-cert-file tls-cert-file tls-cluster tls-key-file
	tls-port tls-replication`)

// TestParameters compares the names and defaults of the parameters with Redis 8.0, and the replies to CONFIG SET for
// values of all types.
func TestParameters(t *testing.T) {
	real := oracle.Start(t).Dial(t)
	if v := real.Version(); v.Before("8.0") || !v.Before("8.1") {
		t.Skip("the parameters are those of Redis 8.0")
	}
	theirs := func(args ...string) resp.Value { return real.Do(words(args...)...) }
	ours := serve(t, server.Config{}).dial(t).do
	initial := map[string]string{}
	for pair := range slices.Chunk(ours("CONFIG", "GET", "*").Elems, 2) {
		initial[string(pair[0].Str)] = string(pair[1].Str)
	}
	for pair := range slices.Chunk(theirs("CONFIG", "GET", "*").Elems, 2) {
		name, value := string(pair[0].Str), string(pair[1].Str)
		own, known := initial[name]
		delete(initial, name)
		if !known {
			t.Errorf("%s is missing", name)
			continue
		}
		if own != value && !slices.Contains(ownDefaults, name) {
			t.Errorf("%s is %q at first, in Redis %q", name, own, value)
		}
		if slices.Contains(ownValues, name) {
			continue
		}
		for _, set := range []string{value, "zzq", "", "-1", "0", "7", "70", "700", "70000", "1kb", "5%", "101%", "yes", "No", "{title}", "{x}",
			"-99999999999999", "99999999999999999", "99999999999999999999", "3 2 1", "3 2 9000", "a.b c", "POSIX", "60 1 60", strings.Repeat("x", 256)} {
			if name == "maxmemory-clients" && set == "99999999999999999999" {
				continue // 8.0 parses it as 1%
			}
			ask := func(do func(...string) resp.Value) string {
				if v := do("CONFIG", "SET", name, set); v.IsError() {
					return show(v)
				}
				return show(do("CONFIG", "GET", name))
			}
			if got, want := ask(ours), ask(theirs); got != want {
				t.Errorf("CONFIG SET %s %q:\n%s\nredis-server:\n%s", name, set, got, want)
			}
		}
		ours("CONFIG", "SET", name, own)
		theirs("CONFIG", "SET", name, value)
	}
	for name := range initial { // the server here has no modules
		if module, _, _ := strings.Cut(name, "-"); slices.Contains([]string{"bf", "cf", "search", "ts"}, module) {
			delete(initial, name)
		}
	}
	if delete(initial, "command-time-limit"); len(initial) > 0 {
		t.Errorf("Redis has no parameters %v", initial)
	}
	for _, line := range []string{"hz 10 hz 10", "HZ 10 hz 11", "slave-priority 1 replica-priority 2", "port 1 nosuch 2", "databases 16 nosuch 2",
		"hz x databases 16", "dir / databases 2", "hz 10 dir x", "dbfilename x", "hz 10 hz 11 hz x"} {
		args := append([]string{"CONFIG", "SET"}, strings.Fields(line)...)
		if got, want := show(ours(args...)), show(theirs(args...)); got != want {
			t.Errorf("CONFIG SET %s: %s, redis-server: %s", line, got, want)
		}
	}
}

// TestStoredParameters compares docs/serve.md's list of parameters without an effect with the table.
func TestStoredParameters(t *testing.T) {
	page, err := os.ReadFile("../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "\n### Parameters without an effect\n")
	list, _, _ = strings.Cut(list, "\n#")
	var told []string
	for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		told = append(told, name[1])
	}
	slices.Sort(told)
	if want := server.StoredParameters(); !slices.Equal(told, want) {
		t.Errorf("docs/serve.md lists\n`%s`\nthe table has\n`%s`", strings.Join(told, "` `"), strings.Join(want, "` `"))
	}
}
