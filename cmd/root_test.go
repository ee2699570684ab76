package cmd

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestRootForExec compares exec in a tree of its own with that in the tree of all verbs.
func TestRootForExec(t *testing.T) {
	for _, args := range [][]string{
		{"exec", "--help"}, {"exec", "-h"}, {"exec", "--nonsense"}, {"exec", "--db"}, {"exec", "help"}, {"exec", "-t", ":memory:", "ECHO", "completion"},
	} {
		do := func(tree func(s *streams) *cobra.Command) string {
			var out bytes.Buffer
			s := &streams{in: &bytes.Buffer{}, out: &out, err: &out, screen: &out, getenv: func(string) string { return "" }}
			root := tree(s)
			root.SetArgs(args)
			ran, err := root.ExecuteC()
			return out.String() + ran.CommandPath() + ran.UsageString() + errorText(err)
		}
		alone := do(func(s *streams) *cobra.Command { return rootFor(s, args) })
		if all := do(newRoot); alone != all {
			t.Errorf("%q: %s\nwith all verbs: %s", args, alone, all)
		}
	}
	if n, all := len(rootFor(&streams{}, []string{"exec"}).Commands()), len(newRoot(&streams{}).Commands()); n >= all {
		t.Errorf("%d verbs of %d", n, all)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestRedisCLIFlags checks that each flag of redis-cli 8.0 is a flag of exec or known to badFlag, and in the table of
// docs/repl.md.
func TestRedisCLIFlags(t *testing.T) {
	exec, _, err := newRoot(&streams{}).Find([]string{"exec"})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/repl.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq("-h -p -t -4 -6 --count --cursor --top -s -a --user --pass --askpass -u -r -i -n -2 -3 -x -X -d -D -c -e --tls --sni --cacert --cacertdir " +
		"--insecure --cert --key --tls-ciphers --tls-ciphersuites --raw --no-raw --quoted-input --csv --json --quoted-json --show-pushes --stat " +
		"--latency --latency-history --latency-dist --lru-test --replica --rdb --functions-rdb --pipe --pipe-timeout --bigkeys --memkeys " +
		"--memkeys-samples --keystats --keystats-samples --hotkeys --scan --pattern --quoted-pattern --intrinsic-latency --eval --ldb " +
		"--ldb-sync-mode --cluster --verbose --no-auth-warning --help --version") {
		if name != "--version" && name != "--help" && !hasFlag(exec, name) && redisCLIFlags[name] == "" {
			t.Errorf("%s is unknown", name)
		}
		if !regexp.MustCompile("(?m)^\\|.*`" + name + "[` ]").Match(page) {
			t.Errorf("%s is missing in docs/repl.md", name)
		}
	}
}
