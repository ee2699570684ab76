package cmd_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/corpus"
)

// moduleTypes begin the names of commands that a Redis server without modules does not have.
var moduleTypes = []string{"JSON.", "BF.", "CF.", "CMS.", "TOPK.", "TDIGEST.", "TS.", "FT.", "SEARCH."}

// isOfModules reports whether a transcript has commands of modules.
func isOfModules(t corpus.Transcript) bool {
	return slices.ContainsFunc(t.Steps, func(s corpus.Step) bool {
		return slices.ContainsFunc(moduleTypes, func(begin string) bool { return strings.HasPrefix(strings.ToUpper(string(s.Args[0])), begin) })
	})
}

// moduleWrite returns a write to a value of a module.
func moduleWrite(r *rand.Rand) []string {
	n := func(most int) string { return fmt.Sprint(r.IntN(most)) }
	key := func(typ string) string { return typ + ":" + n(4) }
	calls := [][]string{
		{"JSON.SET", key("json"), "$", `{"n":` + n(9) + `,"list":[` + n(9) + `]}`}, {"JSON.NUMINCRBY", key("json"), "$.n", "1"}, {"JSON.ARRAPPEND", key("json"), "$.list", n(99)},
		{"JSON.ARRPOP", key("json"), "$.list"}, {"JSON.DEL", key("json"), "$.n"}, {"JSON.MSET", key("json"), "$", n(9), key("json"), "$", n(9)}, {"RENAME", key("json"), key("str")}, {"RENAME", key("str"), key("json")}, {"COPY", key("json"), key("ts"), "REPLACE"},
		{"BF.ADD", key("bloom"), n(999)}, {"BF.MADD", key("bloom"), n(999), n(999)}, {"CF.ADD", key("cuckoo"), n(99)}, {"CF.DEL", key("cuckoo"), n(99)}, {"CMS.INITBYDIM", key("cms"), "20", "3"}, {"CMS.INCRBY", key("cms"), n(9), n(99)},
		{"TOPK.RESERVE", key("topk"), "3"}, {"TOPK.ADD", key("topk"), n(9), n(9)}, {"TDIGEST.CREATE", key("digest")}, {"TDIGEST.ADD", key("digest"), n(999), n(999)},
		{"TS.ADD", key("ts"), "*", n(99), "ON_DUPLICATE", "LAST"}, {"TS.INCRBY", key("ts"), n(9)}, {"TS.MADD", key("ts"), "*", n(9), key("ts"), "*", n(9)},
		{"TS.CREATERULE", key("ts"), "sum:" + n(2), "AGGREGATION", "SUM", "100"}, {"TS.CREATE", "sum:" + n(2)}, {"RENAME", key("ts"), key("ts")},
		{"FT.SUGADD", "suggestions", n(99), n(9)}, {"FT.SUGDEL", "suggestions", n(99)}, {"PEXPIRE", key("json"), n(4000)}, {"DEL", key("ts"), key("bloom"), key("cms")}, {"MOVE", key("json"), n(3)},
		{"FT.CREATE", "index" + n(2), "PREFIX", "1", "hash:", "SCHEMA", "1", "NUMERIC"}, {"FT.ALTER", "index" + n(2), "SCHEMA", "ADD", n(5), "TAG"}, {"FT.ALIASUPDATE", "alias", "index" + n(2)}, {"FT.DROPINDEX", "index" + n(2)}, {"FT.DICTADD", "words", n(9)},
	}
	return calls[r.IntN(len(calls))]
}

// rules has series that are compacted, before and after their state is sent.
func rules(t *testing.T, master *node, compare func(after string)) {
	t.Helper()
	for _, line := range []string{
		"TS.CREATE from", "TS.CREATE into", "TS.CREATERULE from into AGGREGATION twa 10", "TS.MADD from 1 1 from 4 2 from 13 3",
		"MOVE from 1", "SELECT 1", "MOVE from 0", "SELECT 0", // a state
		"TS.MADD from 15 1 from 29 3", "RENAME into other", "TS.ADD from 31 5", "COPY other copied", "TS.ADD from 45 5",
		"CONFIG SET ts-compaction-policy max:1s:0;sum:2s:0", "TS.ADD auto 1 1", "TS.ADD auto 2500 7", "TS.INCRBY more 1", "CONFIG SET ts-compaction-policy ", "TS.ADD auto 5000 9",
	} {
		if v := master.do(strings.Split(line, " ")...); v.IsError() {
			t.Errorf("%s: %s", line, v.Str)
		}
	}
	compare("rules were made")
}

// TestFollowModules plays the transcripts of JSON, sketches, time series and search on a server. A copy --follow gets
// everything, a redis-server what it can have, and both have the same offsets in one stream.
func TestFollowModules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address := serveProcess(t, filepath.Join(dir, "source.sqlite"))
	master := connect(t, "tcp", address)
	master.must("JSON.SET", "before", "$", `{"a":[1]}`)
	master.must("FT.CREATE", "before", "ON", "JSON", "SCHEMA", "$.a[0]", "AS", "a", "NUMERIC")
	replica := follow(t, address)
	m := mover{t, dir}
	copying := exec.Command("meowdis", "copy", "--follow", "redis://"+address, "target.sqlite")
	copying.Dir = dir
	said := &strings.Builder{}
	copying.Stdout, copying.Stderr = said, said
	if err := copying.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- copying.Wait() }()
	t.Cleanup(func() {
		copying.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("%.3000s", said)
		}
	})
	compare := func(after string) {
		t.Helper()
		master.eventually("both have everything", func() bool { return master.must("WAIT", "2", "500").Int == 2 })
		same(t, master, replica)
		if differences := m.run(0, "diff", "redis://"+address, "target.sqlite"); differences != "" {
			t.Errorf("after %s: %s", after, differences)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	compare("all keys have arrived")
	rules(t, master, compare)
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, "tcp", address)
	for _, transcript := range all {
		if !isOfModules(transcript) {
			continue
		}
		for _, step := range transcript.Steps {
			if name := strings.ToUpper(string(step.Args[0])); !slices.Contains(notReplayed, name) {
				client.try(2*time.Second, step.Args...)
			}
		}
		client.do("RESET")
		compare(transcript.Name)
		master.must("FLUSHALL")
	}
	// A value of another type becomes a document, and a document gets another name, both ways.
	for _, line := range []string{"SET k v", "JSON.SET doc $ 1", "RENAME doc k", "COPY k c", "TS.ADD series * 1", "TS.INCRBY series 2", "TS.MADD series * 3 missing * 4",
		"TOPK.RESERVE top 3", "TOPK.ADD top a b c d a", "SET other v", "RENAME other c", "MOVE k 5", "PEXPIRE top 500000",
		"MULTI", "JSON.SET a $ 1", "SET plain 1", "JSON.SET b $ 2", "EXEC", "FT.CREATE late SCHEMA a TEXT", "FT.CREATE gone PREFIX 1 h: SCHEMA a TEXT", "HSET h:1 a b", "FT.DROPINDEX gone DD"} {
		master.do(strings.Fields(line)...)
	}
	for i := range 300 { // the lengths of a PING in place of a command
		master.must("JSON.SET", "length", "$", `"`+strings.Repeat("x", i)+`"`)
	}
	master.must("JSON.SET", "large", "$", `"`+strings.Repeat("x", 300_000)+`"`)
	compare("values have changed their type")
	if n := master.info("stats", "sync_full"); n != "2" {
		t.Errorf("%s full synchronizations", n)
	}
	if n := number(master.info("replication", "repl_skipped_keys")); n < 300 {
		t.Errorf("%d keys were skipped", n)
	}
	master.eventually("both have the offset of the stream", func() bool {
		return strings.Contains(master.info("replication", "slave1"), fmt.Sprint("offset=", master.info("replication", "master_repl_offset"), ","))
	})
}
