package cmd

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/flags"
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
			head := regexp.QuoteMeta(f.Name)
			heads := regexp.MustCompile(`(?m)^(  -., |      )--`+head+`\b[^-]`).FindAllString(help, -1)
			if _, list, grouped := strings.Cut(help, "\nAddresses:"); grouped && len(heads) == 0 {
				heads = regexp.MustCompile(`--`+head+`(\s|$)`).FindAllString(list, -1)
			}
			if shown := !f.Hidden && flags.Topic(f) == ""; shown != (len(heads) == 1) {
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

// TestHelpLength bounds the help of each verb to what people read, and the help of all verbs together.
func TestHelpLength(t *testing.T) {
	all := 0
	walkVerbs(newRoot(&streams{}), func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.IsAdditionalHelpTopicCommand() {
			return
		}
		n := strings.Count(helpOf(cmd), "\n")
		if all += n; n > 45 {
			t.Errorf("%s: %d lines", cmd.CommandPath(), n)
		}
	})
	if all > 900 {
		t.Errorf("%d lines in all", all)
	}
}

// TestTargetsInHelp holds verbs to one grammar: their usage lines call a target by one of its five names, they
// complete it, they take it as -t, too, and its other flags are only in the help of the topic.
func TestTargetsInHelp(t *testing.T) {
	names := []string{"TARGET", "SOURCE", "COPY", "A", "B"}
	seen := 0
	for _, verb := range newRoot(&streams{getenv: func(string) string { return "" }}).Commands() {
		_, args, _ := strings.Cut(verb.Use, "[FLAGS] ")
		takes, _, _ := strings.Cut(strings.Trim(args, "[]"), " ")
		named := slices.Contains(names, strings.TrimRight(takes, "]."))
		if verb.Flags().Lookup("target") == nil && !named {
			continue
		}
		seen++
		help := helpOf(verb)
		if !strings.Contains(help, "meowdis help targets") || strings.Contains(help, "--cacert FILE") {
			t.Errorf("help %s: does not leave the flags of targets to their topic", verb.Name())
		}
		if verb.Flags().Lookup("target") != nil && verb.Flags().ShorthandLookup("t").Name != "target" {
			t.Errorf("%s: has no -t", verb.Name())
		}
		if named && !takesTargets(verb) {
			t.Errorf("%s: completes no targets, and its usage line is %q", verb.Name(), verb.Use)
		}
	}
	if seen < 24 {
		t.Errorf("only %d verbs have a target", seen)
	}
}

// otherNames lists names of flags that have another name here.
var otherNames = map[string]string{
	"delimiter": "separator", "sep": "separator", "count": "limit", "max": "limit", "number": "limit", "examples": "limit",
	"time-limit": "timeout", "wait": "timeout", "deadline": "timeout", "db": "target or database", "url": "target", "file": "target",
	"profile": "target", "storage-url": "target", "dbnum": "database", "db-from": "from-database", "db-to": "to-database", "format-output": "output", "quiet": "verbose", "overwrite": "replace",
}

// TestOneName walks all verbs: an idea has one name, and a name has one type and one word for its value.
func TestOneName(t *testing.T) {
	type form struct{ kind, value string }
	forms := map[string]form{}
	walkVerbs(newRoot(&streams{}), func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			if name, is := otherNames[f.Name]; is {
				t.Errorf("%s --%s: the name of this flag is %s", cmd.CommandPath(), f.Name, name)
			}
			value, _ := pflag.UnquoteUsage(f)
			if f.Value.Type() == "duration" && value != "DURATION" {
				t.Errorf("%s --%s %s: its value is a DURATION", cmd.CommandPath(), f.Name, value)
			}
			if f.Name == "color" { // of replies, and of a profile
				return
			}
			if cmd.Name() == "serve" && f.Name == "follow" { // a copy follows its source; a server has none, so it names the place
				return
			}
			now := form{strings.TrimSuffix(f.Value.Type(), "64"), value}
			if before, known := forms[f.Name]; known && before != now {
				t.Errorf("%s --%s is %v, and %v elsewhere", cmd.CommandPath(), f.Name, now, before)
			}
			forms[f.Name] = now
		})
	})
	if len(forms) < 80 {
		t.Errorf("only %d flags", len(forms))
	}
}

// takesTargets reports whether the first argument of a verb completes to files,
// as that of a target does.
func takesTargets(verb *cobra.Command) bool {
	if verb.ValidArgsFunction == nil {
		return false
	}
	verb.SetContext(context.Background())
	_, files := verb.ValidArgsFunction(verb, nil, "./")
	return files == cobra.ShellCompDirectiveDefault
}
