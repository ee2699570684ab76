package cmd

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpOf is what --help of cmd prints.
func helpOf(cmd *cobra.Command) string {
	var out bytes.Buffer
	cmd.Root().SetOut(&out)
	showHelp(cmd, nil)
	return out.String()
}

// walkVerbs calls see for all verbs and topics below cmd.
func walkVerbs(cmd *cobra.Command, see func(*cobra.Command)) {
	for _, c := range cmd.Commands() {
		see(c)
		walkVerbs(c, see)
	}
}

// TestHelp holds the help of every verb to the width of a small terminal, with each flag
// in it once.
func TestHelp(t *testing.T) {
	walkVerbs(newRoot(&streams{}), func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		help := helpOf(cmd)
		for line := range strings.Lines(help) {
			line = strings.TrimSuffix(line, "\n")
			n, limit := utf8.RuneCountInString(line), helpWidth
			if strings.HasPrefix(line, "  ") && strings.Contains(cmd.Long+cmd.Example, line) {
				limit -= 5 // which its man page indents more
			}
			if n > limit {
				t.Errorf("%s: %d characters: %s", cmd.CommandPath(), n, line)
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			heads := regexp.MustCompile(`(?m)^(  -., |      )--`+regexp.QuoteMeta(f.Name)+`\b[^-]`).FindAllString(help, -1)
			if shown := !f.Hidden; shown != (len(heads) == 1) {
				t.Errorf("%s: --%s is shown %d times", cmd.CommandPath(), f.Name, len(heads))
			}
		})
	})
}

// TestOverview has the first help that people see name everything, on one screen with the
// line that asked for it and the next prompt.
func TestOverview(t *testing.T) {
	root := newRoot(&streams{})
	overview := helpOf(root)
	lines := strings.Split(overview, "\n")
	if len(lines)-1 > 22 {
		t.Errorf("%d lines", len(lines)-1)
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > helpWidth {
			t.Errorf("too wide: %s", line)
		}
	}
	_, named, _ := strings.Cut(overview, "Run commands")
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" && !slices.Contains(strings.Fields(named), c.Name()) {
			t.Errorf("does not name %s", c.Name())
		}
	}
	var all bytes.Buffer
	if err := showVerbs(&all, root); err != nil {
		t.Fatal(err)
	}
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" && strings.Count(all.String(), "\n  "+c.Name()+" ") != 1 {
			t.Errorf("help verbs: not one line for %s", c.Name())
		}
	}
}

// TestTargetsInHelp holds the verbs that have a target to one wording: their help has the
// flags that name it under one heading, and their usage lines call an argument that is a
// target by one of its five names.
func TestTargetsInHelp(t *testing.T) {
	targets := []string{"TARGET", "SOURCE", "DESTINATION", "A", "B"}
	seen := 0
	for _, verb := range newRoot(&streams{}).Commands() {
		_, args, _ := strings.Cut(verb.Use, "[FLAGS] ")
		takes, _, _ := strings.Cut(strings.Trim(args, "[]"), " ")
		named := slices.Contains(targets, strings.TrimSuffix(takes, "]"))
		if verb.Flags().Lookup("db") == nil && !named {
			continue
		}
		seen++
		help := helpOf(verb)
		switch heading := strings.Count(help, "\nTarget:\n"); {
		case verb.Flags().Lookup("db") != nil:
			if heading != 1 || !strings.Contains(help, "meowdis help targets") {
				t.Errorf("help %s: says %d times which flags name the target", verb.Name(), heading)
			}
		case !strings.Contains(help, "a file, a URL"):
			t.Errorf("help %s: does not say what its arguments may be", verb.Name())
		}
		if named && !takesTargets(verb) {
			t.Errorf("%s: completes no targets, and its usage line is %q", verb.Name(), verb.Use)
		}
	}
	if seen < 20 {
		t.Errorf("only %d verbs have a target", seen)
	}
}

// takesTargets reports whether the first argument of a verb completes to files,
// as that of a target does.
func takesTargets(verb *cobra.Command) bool {
	if verb.ValidArgsFunction == nil {
		return false
	}
	_, files := verb.ValidArgsFunction(verb, nil, "")
	return files == cobra.ShellCompDirectiveDefault
}
