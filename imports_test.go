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
resp:
schema:
spelling:
outfile:
translator/document:
translator/filter:
translator/vector:
commands:             resp
display:              resp
keyspace:             resp
longdouble:           commands
rdb:                  resp
store:                resp
decode:               display resp
records:              commands keyspace resp
profile:              spelling
sweep:                schema store
translator:           commands glob longdouble partialsort rdb resp schema store translator/document translator/filter translator/vector
engine:               commands resp store translator
foreign:              resp store translator
doctor:               foreign resp schema store translator
catalog:              rdb resp schema store
survey:               display keyspace resp schema store
transfer:             keyspace rdb resp translator/vector

local:                doctor foreign outfile schema store sweep
remote:               commands resp
server:               commands engine resp store translator
repl:                 commands decode display keyspace outfile resp spelling
inspect:              catalog commands decode display glob keyspace rdb resp transfer translator
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
		if !ours || name == "cmd" || name == "bench" || strings.HasPrefix(name, "internal/") {
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
