package commands

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reference holds facts about every command of Redis 8.10: name, since,
// deprecated since, group, arity, flags, key specs, syntax.
//
//go:embed testdata/commands-8.10.tsv
var reference string

func referenceRows() map[string][]string {
	rows := map[string][]string{}
	for _, line := range strings.Split(strings.TrimSpace(reference), "\n")[1:] {
		fields := strings.Split(line, "\t")
		rows[fields[0]] = fields
	}
	return rows
}

// before lists where Redis 8.0, which we follow, is not what 8.10 has become:
// command and fact, and the fact as of 8.0. Of flags only the difference.
var before = map[string]string{
	"TS.READ flags":                       "+blocking", // it waits as our other blocking commands do
	"SUBSCRIBE flags":                     "-denyoom",
	"PSUBSCRIBE flags":                    "-denyoom",
	"SSUBSCRIBE flags":                    "-denyoom",
	"EVAL flags":                          "-script_runner",
	"EVAL_RO flags":                       "-script_runner",
	"EVALSHA flags":                       "-script_runner",
	"EVALSHA_RO flags":                    "-script_runner",
	"FCALL flags":                         "-script_runner",
	"FCALL_RO flags":                      "-script_runner",
	"CLUSTER KEYSLOT flags":               "-loading",
	"CLUSTER INFO flags":                  "-loading",
	"CLUSTER NODES flags":                 "-loading",
	"CLUSTER MYID flags":                  "-loading",
	"CLUSTER MYSHARDID flags":             "-loading",
	"CLUSTER LINKS flags":                 "-loading",
	"CLUSTER REPLICAS flags":              "-loading",
	"CLUSTER SLAVES flags":                "-loading",
	"CLUSTER COUNT-FAILURE-REPORTS flags": "-loading",

	// What the module says of itself and does not do: it reads every key but
	// the path after them, and appends one value at least.
	"CF.COMPACT flags":     "-readonly,+write",
	"JSON.MGET keys":       "RO@1:range(-2,1,0)",
	"JSON.ARRAPPEND arity": "-4",
}

// undocumented are commands beside DEBUG that the reference lacks: two are no part of
// Redis, nor are those of Upstash's search, two are for its own tests, three for its replicas,
// and one for nodes of a cluster.
var undocumented = map[string]bool{"PSYNC": true, "SYNC": true, "REPLCONF": true, "CL.THROTTLE": true, "FT._DUMP": true, "ASKING": true, "ACL GENTOKEN": true, "ACL RESTTOKEN": true, "PFDEBUG": true, "PFSELFTEST": true, "RESTORE-ASKING": true}

func TestTableAgrees(t *testing.T) {
	rows := referenceRows()
	for _, c := range All() {
		row := rows[c.Name]
		if row == nil {
			if undocumented[c.Name] || strings.HasPrefix(c.Name, "DEBUG") || strings.HasPrefix(c.Name, "SEARCH.") {
				continue
			}
			t.Errorf("%s: Redis has no such command", c.Name)
			continue
		}
		for _, fact := range []struct{ name, want, got string }{
			{"since", row[1], c.Since},
			{"group", row[3], c.Group},
			{"arity", row[4], fmt.Sprint(c.Arity)},
			{"flags", changed(row[5], ""), changed(strings.Join(c.Flags.Names(), ","), "")},
			{"keys", row[6], notation(c.Keys)},
		} {
			id := c.Name + " " + fact.name
			if old, ok := before[id]; ok {
				if fact.name == "flags" {
					old = changed(fact.want, old)
				}
				if old == fact.want {
					t.Errorf("%s: a difference that is none", id)
				}
				fact.want = old
			}
			if fact.got != fact.want {
				t.Errorf("%s: %q, but the reference says %q", id, fact.got, fact.want)
			}
		}
	}
}

// changed sorts a list of words, after changes such as "+a,-b".
func changed(list, changes string) string {
	words := strings.Split(list, ",")
	for _, c := range strings.Split(changes, ",") {
		switch {
		case strings.HasPrefix(c, "+"):
			words = append(words, c[1:])
		case strings.HasPrefix(c, "-"):
			words = slices.DeleteFunc(words, func(w string) bool { return w == c[1:] })
		}
	}
	slices.Sort(words)
	return strings.TrimPrefix(strings.Join(words, ","), ",")
}

// notation writes key specs as the reference does.
func notation(specs []KeySpec) string {
	var all []string
	for _, s := range specs {
		letters := strings.TrimPrefix(s.Access.Names()[0], "not_key")
		text := letters + s.Keyword + fmt.Sprintf("@%d:range(%d,%d,%d)", s.Index, s.Last, s.Step, s.Limit)
		switch {
		case s.Unknown:
			text = letters + "unknown:unknown"
		case s.KeyNum:
			text = letters + s.Keyword + fmt.Sprintf("@%d:keynum(0,1,%d)", s.Index, s.Step)
		}
		all = append(all, text)
	}
	return strings.Join(all, ";")
}

// TestEveryCommand holds the commands of Redis 8.10 against the table: one that
// is missing stands in docs/compatibility.md, with a reason, and no other does.
func TestEveryCommand(t *testing.T) {
	text, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "## Commands that are not here")
	if !ok {
		t.Fatal("docs/compatibility.md does not list the commands that are missing")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	reasons := regexp.MustCompile("(?m)^\\| (`.*`) \\| (.+) \\|$").FindAllStringSubmatch(section, -1)
	var excused []string
	for _, r := range reasons {
		excused = append(excused, strings.Split(strings.Trim(r[1], "`"), "` `")...)
	}
	missing := map[string]bool{}
	for name := range referenceRows() {
		if Ours.byName[name] == nil {
			missing[name] = false
		}
	}
	for _, pattern := range excused {
		prefix, any := strings.CutSuffix(pattern, "*")
		used := false
		for name := range missing {
			if name == pattern || any && strings.HasPrefix(name, prefix) {
				missing[name], used = true, true
			}
		}
		if !used {
			t.Errorf("docs/compatibility.md says that %s is missing, which it is not", pattern)
		}
	}
	for name, told := range missing {
		if !told {
			t.Errorf("%s is neither in the table nor in docs/compatibility.md", name)
		}
	}
}

func TestSummaries(t *testing.T) {
	for _, c := range All() {
		switch s := c.Summary; {
		case s == "":
			t.Errorf("%s has no summary", c.Name)
		case strings.HasSuffix(s, ".") || strings.ContainsAny(s, "\r\n") || s != strings.TrimSpace(s):
			t.Errorf("%s: %q is not one line without a full stop", c.Name, s)
		}
	}
}

// TestSyntaxes holds the syntax of each command against its arity: the fewest
// words that it allows, and whether it allows more.
func TestSyntaxes(t *testing.T) {
	for _, c := range All() {
		if len(c.subs) > 0 || c.Name == "QUIT" { // QUIT takes and ignores any words
			continue
		}
		if slices.Contains([]string{"TS.CREATERULE", "TS.MRANGE", "TS.MREVRANGE", "FT._LIST", "FT.CURSOR DEL", "FT.CURSOR GC", "FT.CONFIG GET", "FT.CONFIG SET", "FT.CONFIG HELP", "SEARCH.CREATE"}, c.Name) { // they refuse the call with the fewest words themselves
			continue
		}
		least, more := words(c.SyntaxTree())
		least += strings.Count(c.Name, " ") + 1
		if want := max(c.Arity, -c.Arity); least != want || more != (c.Arity < 0) {
			t.Errorf("%s %s: takes %d words, more %v; its arity is %d", c.Name, c.Syntax, least, more, c.Arity)
		}
	}
}

// TestReplies finds the options that change a reply in the command's syntax.
func TestReplies(t *testing.T) {
	for _, c := range All() {
		for _, r := range c.Replies {
			options := strings.Fields(r.With)
			for _, a := range r.Added {
				options = append(options, a.With)
			}
			for _, option := range options {
				if !regexp.MustCompile(`\b` + option + `\b`).MatchString(c.Syntax) {
					t.Errorf("%s has another reply with %s, which is not in its syntax", c.Name, option)
				}
			}
			if r.Records == Pairs && len(r.Columns) != 2 || r.Records == Rows && len(r.Columns) == 0 {
				t.Errorf("%s: %d columns", c.Name, len(r.Columns))
			}
		}
	}
}

// words is the fewest words that the arguments take, and whether they can take
// more.
func words(args []Argument) (least int, more bool) {
	for _, a := range args {
		n, varies := 1, a.Optional || a.Multiple
		switch a.Type {
		case "pure-token":
		case "oneof", "block":
			inside := []int{}
			for _, b := range a.Arguments {
				k, v := words([]Argument{b})
				inside, varies = append(inside, k), varies || v
			}
			n = 0
			for _, k := range inside {
				n += k
			}
			if a.Type == "oneof" {
				n, varies = slices.Min(inside), varies || slices.Max(inside) > slices.Min(inside)
			}
		}
		if a.Token != "" && a.Type != "pure-token" {
			n++
		}
		if !a.Optional {
			least += n
		}
		more = more || varies
	}
	return least, more
}

// render writes arguments in the notation of Syntax.
func render(args []Argument) string {
	var parts []string
	for _, a := range args {
		parts = append(parts, a.render())
	}
	return strings.Join(parts, " ")
}

func (a Argument) render() string {
	bare := a.Name
	switch a.Type {
	case "pure-token":
		bare = a.Token
	case "block":
		bare = render(a.Arguments)
	case "oneof":
		var each []string
		for _, b := range a.Arguments {
			each = append(each, b.render())
		}
		bare = strings.Join(each, "|")
		if !a.Optional || a.Token != "" || a.Multiple {
			bare = "<" + bare + ">"
		}
	}
	full := bare
	if a.Token != "" && a.Type != "pure-token" {
		full = a.Token + " " + bare
	}
	if a.Multiple {
		if a.MultipleToken {
			bare = full
		}
		full += " [" + bare + " ...]"
	}
	if a.Optional {
		full = "[" + full + "]"
	}
	return full
}

// TestSyntaxTree reads every syntax of the reference, and writes it again. Those
// of the search and time series modules are a language of their own.
func TestSyntaxTree(t *testing.T) {
	for name, row := range referenceRows() {
		if strings.HasPrefix(name, "FT.") || strings.HasPrefix(name, "TS.") {
			continue
		}
		c := Command{Name: name, Syntax: row[7]}
		if got := render(c.SyntaxTree()); got != row[7] {
			t.Errorf("%s:\n%s\n%s", name, row[7], got)
		}
	}
}

// TestSubcommandNames has every subcommand named as redis-cli 7.0 wants it, which ends when COMMAND DOCS has
// one without the bar.
func TestSubcommandNames(t *testing.T) {
	for _, c := range All() {
		for _, sub := range c.Subcommands() {
			if container, name, ok := strings.Cut(sub.WireName(), "|"); !ok || container != strings.ToLower(c.Name) || name == "" {
				t.Errorf("%s is %q", sub.Name, sub.WireName())
			}
		}
	}
}

// TestFlagOrder lists flags in the order of Redis's COMMAND.
func TestFlagOrder(t *testing.T) {
	for name, want := range map[string]string{
		"EVAL":       "noscript stale skip_monitor no_mandatory_keys movablekeys",
		"SHUTDOWN":   "admin noscript loading stale no_multi allow_busy",
		"XREADGROUP": "write blocking movablekeys",
	} {
		if got := strings.Join(Lookup(name).Flags.Names(), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
