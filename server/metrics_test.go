package server_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/server"
)

// TestMetrics shows the effect of commands to users who may run INFO.
func TestMetrics(t *testing.T) {
	s := serve(t, server.Config{
		Writable:     func() error { return errors.New("a secret") },
		StoreFigures: func() server.StoreFigures { return server.StoreFigures{File: 4096, Commits: 7} },
	})
	c := s.dial(t)
	for _, call := range []string{"SET a 1", "SET b 2", "GET a", "GET nothing", "INCR a", "LPUSH a x", "NOPE", "SELECT 3", "SET c 1"} {
		c.do(strings.Fields(call)...)
	}
	c.do("ACL", "SETUSER", "tom", "on", ">pw", "+@all", "~*", "-info")
	status, page := s.get(t, "/metrics")
	if status != 200 {
		t.Fatalf("%d %s", status, page)
	}
	for _, line := range []string{
		`meowdis_commands_total{command="set",family="string"} 3`,
		`meowdis_command_failures_total{command="lpush",family="list"} 1`,
		`meowdis_command_duration_seconds_count{family="list"} 1`,
		`meowdis_command_duration_seconds_bucket{family="string",le="+Inf"} 6`,
		`meowdis_errors_total{kind="WRONGTYPE"} 1`,
		`meowdis_keys{db="0"} 2`, `meowdis_keys{db="3"} 1`,
		`meowdis_connected_clients 1`, `meowdis_keyspace_hits_total 1`, `meowdis_keyspace_misses_total 1`,
		`meowdis_file_bytes 4096`, `meowdis_commits_total 7`, `meowdis_writable 0`, `meowdis_last_save_failed 0`,
		`# TYPE meowdis_command_duration_seconds histogram`, `# TYPE go_goroutines gauge`,
	} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("no %s", line)
		}
	}
	if t.Failed() {
		t.Logf("%s", page)
	}
	tom := string(c.do("ACL", "RESTTOKEN", "tom", "pw").Str)
	if status, got := s.as(t, tom, "/metrics"); status != 400 || !strings.Contains(got, "NOPERM User tom has no permissions to run the 'info' command") {
		t.Errorf("without INFO: %d %s", status, got)
	}
	if status, got := s.as(t, "wrong", "/metrics"); status != 401 {
		t.Errorf("without a token: %d %s", status, got)
	}
}

// as requests a path with another token.
func (s *served) as(t *testing.T, token, path string) (int, string) {
	t.Helper()
	status, text, _ := s.exchange(t, "GET", path, "", "Authorization: Bearer "+token)
	return status, text
}

// TestMetricsAlone serves only the metrics and the health check, without a token.
func TestMetricsAlone(t *testing.T) {
	s := serve(t, server.Config{})
	ctx, cancel := context.WithCancel(context.Background())
	ln, ended := listen(t), make(chan error)
	go func() { ended <- s.server.ServeMetrics(ctx, ln) }()
	for path, want := range map[string]int{"/metrics": 200, "/healthz": 200, "/get/k": 404, "/": 404} {
		answer, err := http.Get("http://" + ln.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != want {
			t.Errorf("%s: %d, %v", path, answer.StatusCode, err)
		}
		answer.Body.Close()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
