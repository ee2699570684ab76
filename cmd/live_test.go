package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/redis/resp"
)

// sampleAt is what INFO told so many seconds after the first time.
func sampleAt(seconds int, facts ...string) *liveSample {
	s := &liveSample{at: time.Unix(1000, 0).Add(time.Duration(seconds) * time.Second), keys: -1, file: -1}
	told := map[string]string{}
	for _, fact := range facts {
		name, value, _ := strings.Cut(fact, ":")
		told[name] = value
	}
	s.take(told)
	return s
}

// shownFigures are the figures as name value more.
func shownFigures(l *live) string {
	var lines []string
	for _, f := range l.figures() {
		lines = append(lines, strings.TrimSpace(f.name+" "+f.value+" "+f.more))
	}
	return strings.Join(lines, "\n")
}

func TestLiveFigures(t *testing.T) {
	l := &live{}
	l.add(sampleAt(0, "db0:keys=1000,expires=10,avg_ttl=0", "db3:keys=5,expires=1", "dbx:keys=7", "used_memory:2097152", "maxmemory:4194304",
		"connected_clients:3", "blocked_clients:1", "total_commands_processed:1000", "keyspace_hits:0", "keyspace_misses:0", "expired_keys:4"))
	want := "keys 1,005\nexpiring 11\nmemory 2.0 MB of 4.0 MB\nclients 3 1 blocked\ncommands - 1.0K in all\nhits -\nexpired - 4 in all"
	if got := shownFigures(l); got != want {
		t.Errorf("at first:\n%s\nwant\n%s", got, want)
	}
	l.add(sampleAt(2, "db0:keys=900", "total_commands_processed:3001", "keyspace_hits:30", "keyspace_misses:10", "expired_keys:104"))
	want = "keys 900 -52/s\nexpiring 0\ncommands 1.0K/s 3.0K in all\nhits 75.0% 75.0% in all\nexpired 50/s 104 in all"
	if got := shownFigures(l); got != want {
		t.Errorf("then:\n%s\nwant\n%s", got, want)
	}
	if got, want := string(resp.AppendJSON(nil, l.json())), `{"time_ms":1002000,"keys":900,"expiring":0,"commands_per_second":1000,"hit_rate":0.75,"expired_per_second":50}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	l.add(sampleAt(3, "total_commands_processed:10", "keyspace_hits:30", "keyspace_misses:10"))
	want = "keys 0 -900/s\nexpiring 0\ncommands - 10 in all\nhits - 75.0% in all" // the server is a new one
	if got := shownFigures(l); got != want {
		t.Errorf("after a restart:\n%s\nwant\n%s", got, want)
	}
	l.problem = "no answer\x1b[2J"
	for _, columns := range []int{20, 40, 80, 200} {
		lines := l.draw(columns)
		for _, line := range lines {
			if ansi.StringWidth(line) > columns || strings.Contains(line, "\x1b") {
				t.Errorf("%q in %d columns", line, columns)
			}
		}
		if last := lines[len(lines)-1]; !strings.Contains(last, "no answer") {
			t.Errorf("the problem is missing in %q", lines)
		}
	}
}

// TestLiveLacks has targets that do not tell all.
func TestLiveLacks(t *testing.T) {
	refused := &liveSample{at: time.Unix(1000, 0), keys: 5, file: -1, refusal: "NOPERM no"}
	file := sampleAt(0, "db0:keys=5,expires=0")
	file.file, file.log = 4096, 1<<20
	for _, c := range []struct {
		sample *liveSample
		want   string
	}{
		{refused, "keys                5\n\nOnly the keys are known: INFO returned NOPERM no"},
		{file, "keys                5\nexpiring            0\nfile           4.0 KB  and 1.0 MB of log\n\nA file does not count clients, commands and hits:…"},
		{sampleAt(0), "keys                0\nexpiring            0\n\nThis target reports no other figures."},
	} {
		l := &live{}
		l.add(c.sample)
		if got := strings.Join(l.draw(50), "\n"); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}
