package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport is which package may import which of ours, tests aside. Those at the top
// know commands, SQL and nothing of a machine; those at the bottom only cmd puts
// together. What runs commands is handed to whoever needs it, so that neither a face
// nor a mover imports local, remote or engine.
const mayImport = `
glob:
partialsort:
schema:
spelling:
outfile:
trig:
internal/flags:        internal/exit keytype
internal/latency:
internal/progress:
internal/exit:
inspect/screen:       display resp
inspect/job:          display
hyperloglog:
geohash:              trig
translator/document:
translator/filter:
translator/vector:
internal/readfull:
resp:                 internal/readfull
commands:             resp
longdouble:           commands
rdb:                  internal/readfull resp
store:                resp
keytype:              resp schema
display:              keytype resp
keyspace:             keytype resp
decode:               display resp
records:              commands keyspace resp
profile:              spelling
sweep:                schema store
translator:           commands glob keytype longdouble partialsort rdb resp schema store translator/document translator/filter translator/vector trig
engine:               commands resp store translator
foreign:              keytype resp store translator
doctor:               foreign keytype resp schema store translator
catalog:              keytype rdb resp schema store
survey:               display keyspace keytype resp schema store
transfer:             internal/readfull keyspace keytype rdb resp translator/vector

local:                doctor foreign outfile schema store sweep
remote:               commands resp
server:               commands engine glob resp store translator
repl:                 commands decode display keyspace keytype outfile resp spelling
inspect:              catalog commands decode display glob keyspace keytype rdb resp transfer translator
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
