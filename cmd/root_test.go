package cmd

import (
	"bytes"
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
