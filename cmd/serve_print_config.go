package cmd

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/redis/conf"
	"github.com/meowdis/meowdis/redis/resp"
)

const configHead = `# A configuration of meowdis serve: meowdis serve --config FILE reads it.
#
# Each line sets a flag; remove the # before it to use it. A flag on the command
# line takes precedence. Lines of redis.conf are understood, too: maxmemory 1gb,
# notify-keyspace-events KEA, user NAME RULES… CONFIG REWRITE writes them here.
`

// configGroups returns the flags of the configuration file, with the target first.
func configGroups() []flagGroup {
	return append([]flagGroup{{title: "Target", names: []string{"target"}}}, serveGroups()...)
}

// directiveNames maps flags whose names are parameters of redis.conf with another meaning to their directives.
var directiveNames = map[string]string{"timeout": "command-time-limit", "tls-auth-clients": "tls-auth-clients", "max-clients": "maxclients"}

// directive returns the name of a flag in the configuration file.
func directive(flag string) string {
	if name, is := directiveNames[flag]; is {
		return name
	}
	return flag
}

// printConfig writes a commented configuration file. The flags that are given are set in it.
func printConfig(w io.Writer, f *pflag.FlagSet) error {
	var b strings.Builder
	b.WriteString(configHead)
	for _, g := range configGroups() {
		fmt.Fprintf(&b, "\n# %s\n", g.title)
		for _, name := range g.names {
			writeDirective(&b, f.Lookup(name))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeDirective writes the description of a flag and its lines.
func writeDirective(b *strings.Builder, f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	fmt.Fprintf(b, "\n# %s\n", wrapped(usage, helpWidth-2, "# "))
	if !f.Changed {
		b.WriteString("# ")
	}
	for _, text := range directiveValues(f, value) {
		fmt.Fprintf(b, "%s %s\n", directive(f.Name), text)
	}
}

// directiveValues returns the values of a flag as they are written in the file: one, or one per line of a flag that may
// be repeated. placeholder stands for a value without a default.
func directiveValues(f *pflag.Flag, placeholder string) []string {
	switch text := f.Value.String(); {
	case f.Name == "timeout":
		d, _ := time.ParseDuration(text)
		return []string{strconv.FormatInt(d.Milliseconds(), 10)}
	case f.Name == "tls-auth-clients":
		return []string{map[string]string{"required": "yes"}[text] + strings.TrimPrefix(text, "required")}
	case f.Value.Type() == "bool":
		return []string{map[string]string{"true": "yes", "false": "no"}[text]}
	case f.Value.Type() == "stringArray":
		if list := f.Value.(pflag.SliceValue).GetSlice(); len(list) > 0 {
			for i, each := range list {
				list[i] = quotedDirective(each)
			}
			return list
		}
		return []string{placeholder}
	case text == "":
		return []string{placeholder}
	default:
		return []string{quotedDirective(text)}
	}
}

// quotedDirective quotes a value that a line of the file would split.
func quotedDirective(text string) string {
	if text == "" || strings.ContainsAny(text, " \t\"'#\\") {
		return string(resp.AppendQuoted(nil, []byte(text), true))
	}
	return text
}

// setFlags sets the flags that the file names and the command line does not. It returns the names of their directives,
// which are not parameters of the server.
func setFlags(f *pflag.FlagSet, directives []conf.Directive) (own []string, err error) {
	given := map[string]bool{}
	f.Visit(func(flag *pflag.Flag) { given[flag.Name] = true })
	for _, g := range configGroups() {
		for _, name := range g.names {
			if directive(name) == name && name != "tls-auth-clients" && name != "requirepass" && name != "aclfile" {
				own = append(own, name)
			}
		}
	}
	for _, d := range directives {
		if !slices.Contains(own, d.Name) || given[d.Name] || d.Name == "target" && f.Lookup("target").Value.String() != "" {
			continue
		}
		value := strings.Join(d.Args, " ")
		if f.Lookup(d.Name).Value.Type() == "bool" {
			value = map[string]string{"yes": "true", "no": "false"}[strings.ToLower(value)]
		}
		if err := f.Set(d.Name, value); err != nil {
			return nil, exit.Usagef("line %d: %s takes %s, not %q", d.Line, d.Name, flagTakes(f.Lookup(d.Name)), strings.Join(d.Args, " "))
		}
	}
	return own, nil
}
