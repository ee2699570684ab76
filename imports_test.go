package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport is which package may import which of ours, tests aside. Those at the top
// know commands, SQL and nothing of a machine; those at the bottom only cmd puts
// together. What runs commands is passed in, so that neither a face nor a mover
// imports local, remote or engine.
const mayImport = `
glob:
hyperloglog:
lambda:
lua:                  trig
partialsort:
schema:
spelling:
outfile:
trig:
worker:
worker/edge:
worker/pack:          worker
geohash:              trig
xxh3:
translator/document:
translator/filter:
translator/vector:
internal/alone:
internal/latency:
internal/exit:
internal/flags:        internal/exit keytype
internal/progress:
internal/readfull:
resp:                 internal/readfull
commands:             resp
acl:                  commands glob resp
longdouble:           commands
rdb:                  internal/readfull resp
redisconf:            resp
store:                resp
store/wire:           store
schema/install:       schema store
keytype:              glob resp schema
display:              keytype resp
keyspace:             keytype resp
decode:               display resp
records:              commands keyspace resp
profile:              spelling
sweep:                keytype schema store
translator:           commands geohash glob hyperloglog keytype longdouble partialsort rdb resp schema script store translator/document translator/filter translator/vector xxh3
pubsub:               glob resp
tracking:             commands resp
notify:               resp
script:               commands lua resp
tally:                commands resp
engine:               acl commands notify pubsub resp script store tally translator
foreign:              keytype resp store translator
rest:                 commands engine pubsub resp
doctor:               foreign keytype resp schema store translator
keyspace/catalog:     keyspace keytype rdb resp schema store
keyspace/stats:       display keyspace keytype resp
keyspace/peek:        decode display keyspace keyspace/stats keytype resp
transfer:             internal/readfull keyspace keytype rdb resp transfer/cmdfile translator/vector xxh3

local:                doctor foreign outfile schema schema/install store sweep
rqlite:               store store/wire sweep translator
remote:               commands resp store store/wire
bus:                  pubsub resp store
server:               acl commands engine glob outfile notify pubsub redisconf resp rest store store/wire tally tracking translator
embedded:             bus commands engine local pubsub resp server transfer
internal/agent:       commands internal/target keyspace keyspace/peek keyspace/stats keytype resp spelling
tenants:              acl engine internal/alone local outfile resp server store
replicate:            local outfile store
internal/complete:    commands display internal/exit internal/target local resp store translator
internal/move:        commands engine glob internal/exit internal/flags internal/progress internal/target keyspace/catalog local outfile rdb resp transfer
internal/script:      internal/exit resp transfer/cmdfile
transfer/cmdfile:     display resp
internal/target:      bus commands display engine internal/exit internal/flags local outfile profile pubsub remote resp rqlite schema/install store
repl:                 commands display keyspace keyspace/peek keytype outfile resp spelling
inspect/job:          display
inspect/screen:       display resp
inspect/target:       inspect/job keyspace keyspace/catalog keytype resp
inspect/room:         display inspect/job inspect/screen inspect/target
inspect/change:       commands display inspect/job inspect/target internal/alone keyspace keyspace/catalog keytype rdb resp transfer xxh3
inspect/keys:         display glob inspect/job inspect/room inspect/screen inspect/target keyspace keyspace/catalog keytype
inspect/value:        decode display geohash hyperloglog inspect/job inspect/room inspect/screen inspect/target keyspace keytype resp
inspect/edit:         commands decode display inspect/change inspect/job inspect/room inspect/screen inspect/target keytype keyspace/catalog repl resp transfer
inspect/compare:      decode display inspect/change inspect/job inspect/room inspect/screen inspect/target keytype rdb transfer xxh3
inspect/recall:       internal/alone xxh3
inspect/server:       display inspect/job inspect/room inspect/screen inspect/target resp
inspect/overview:     display inspect/job inspect/room inspect/screen inspect/target keyspace keyspace/catalog keytype resp
inspect:              display inspect/change inspect/compare inspect/edit inspect/job inspect/keys inspect/overview inspect/recall inspect/room inspect/screen inspect/server inspect/target inspect/value spelling
`

// TestImports holds the packages to the table.
func TestImports(t *testing.T) {
	const module = "github.com/meowdis/meowdis/"
	allowed := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(mayImport), "\n") {
		if name, list, ok := strings.Cut(line, ":"); ok {
			allowed[name] = strings.Fields(list)
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		words := strings.Fields(line)
		name, ours := strings.CutPrefix(words[0], module)
		if !ours || name == "cmd" || name == "bench" || strings.HasPrefix(name, "internal/") && allowed[name] == nil {
			continue // these may know everybody
		}
		list, known := allowed[name]
		if !known {
			t.Errorf("%s is not in the table: say what it may import", name)
		}
		for _, path := range words[1:] {
			if imported, ours := strings.CutPrefix(path, module); ours && !slices.Contains(list, imported) {
				t.Errorf("%s imports %s, which the table does not allow", name, imported)
			}
		}
		delete(allowed, name)
	}
	for name := range allowed {
		t.Errorf("%s is in the table, and is no package", name)
	}
}
