package translator

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/corpus"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/store"
)

// expired removes the conditions that may use the clock, on keys and on fields.
var expired = strings.NewReplacer("dies_at > ?3", "", liveField, "", "h.expires_at <= ?3", "")

// TestCacheableCommands runs the transcripts' calls of the cacheable commands. Their statements must have the clock as
// ?3, use it only for expiry, and be equal otherwise from one call to the next.
func TestCacheableCommands(t *testing.T) {
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, tr := range all {
		for _, step := range tr.Steps {
			cmd, _ := commands.Find(step.Args)
			if cmd == nil || !Translates(cmd) {
				continue
			}
			const now = 1_800_000_000_000
			p := Translate(cmd, step.Args, Env{Now: now, Seed: 1})
			later := Translate(cmd, step.Args, Env{Now: now + 12_345, Seed: 2})
			if p.Batch.Keys == nil {
				continue
			}
			if cmd.Flags&commands.Write != 0 || !p.Batch.ReadOnly && len(p.Batch.Stmts) > 0 || !cacheableByID[cmd.ID()] {
				t.Errorf("%q says what it reads", step.Args)
			}
			for i, s := range p.Batch.Stmts {
				if text := expired.Replace(s.SQL); strings.Contains(text, "?3") || !strings.Contains(s.SQL, "?3") {
					t.Errorf("%q asks the clock for something else: %s", step.Args, s.SQL)
				}
				if s.Args[2].Int() != now {
					t.Errorf("%q has the clock elsewhere: %s", step.Args, s.SQL)
				}
				s.Args = slices.Clone(s.Args) // statements may share it
				s.Args[2] = store.Int(now + 12_345)
				if other := later.Batch.Stmts[i]; s.SQL != other.SQL || !reflect.DeepEqual(s.Args, other.Args) {
					t.Errorf("%q is another the next time: %v, %v", step.Args, s.Args, other.Args)
				}
			}
			found[cmd.Name] = true
		}
	}
	for _, name := range cacheable {
		if !found[name] {
			t.Errorf("no transcript calls %s", name)
		}
	}
}

// TestKeysThatChange checks the keys that calls change.
func TestKeysThatChange(t *testing.T) {
	for line, want := range map[string]string{
		"SET k v":                              "k",
		"MSET a 1 b 2":                         "a b",
		"DEL a b":                              "a b",
		"RENAME a b":                           "a b",
		"COPY a b DB 1":                        "a b",
		"MOVE a 1":                             "a",
		"SMOVE a b m":                          "a b",
		"LMPOP 2 a b LEFT":                     "a b",
		"ZUNIONSTORE d 2 a b WEIGHTS 1 2":      "d a b",
		"SORT a BY w_* STORE d":                "a d",
		"GEORADIUS g 1 1 1 m STORE d":          "g d",
		"XREADGROUP GROUP g c STREAMS s t > >": "s t",
		"XGROUP CREATE s g $":                  "s",
		"BITOP AND d a b":                      "d a b",
		"FLUSHALL":                             "",
		"SWAPDB 0 1":                           "",
	} {
		args := bytes.Fields([]byte(line))
		cmd, _ := commands.Find(args)
		p := Translate(cmd, args, Env{})
		if got := string(bytes.Join(p.Keys, []byte(" "))); got != want || (p.Keys == nil) != (want == "") {
			t.Errorf("%s changes %q, want %q", line, got, want)
		}
	}
}
