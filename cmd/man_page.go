package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPage returns the man page of cmd in roff: https://man7.org/linux/man-pages/man7/groff_man.7.html. date is shown
// in its footer.
func manPage(cmd *cobra.Command, section, date string) []byte {
	var b strings.Builder
	b.WriteString("'\\\" t\n") // makes man run tbl, for the table of verbs
	fmt.Fprintf(&b, ".nr HY 0\n.TH %q %q %q \"meowdis\" \"meowdis\"\n.ad l\n", strings.ToUpper(manName(cmd)), section, date)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	if cmd.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(usageLine(cmd)))
	}
	b.WriteString(".SH DESCRIPTION\n")
	roffText(&b, cmd.Long)
	if cmd.Long == "" {
		roffText(&b, cmd.Short)
	}
	switch {
	case cmd.HasAvailableSubCommands():
		manVerbs(&b, cmd)
	case cmd.Runnable():
		manOptions(&b, cmd)
	case len(topicFlags(cmd)) > 0:
		b.WriteString(".SH OPTIONS\n")
		roffFlags(&b, topicFlags(cmd))
	}
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n.EX\n")
		for line := range strings.Lines(cmd.Example) {
			b.WriteString(roffLine(strings.TrimPrefix(line, "  ")))
		}
		b.WriteString(".EE\n")
	}
	if also := seeAlso(cmd); len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(also, ", "))
	}
	return []byte(b.String())
}

// manVerbs writes the section of cmd's verbs; the program's are in groups.
func manVerbs(b *strings.Builder, cmd *cobra.Command) {
	b.WriteString(".SH VERBS\n")
	if cmd.HasParent() {
		roffVerbs(b, cmd.Commands())
		return
	}
	for _, g := range cmd.Groups() {
		fmt.Fprintf(b, ".SS %s\n", roff(strings.TrimSuffix(g.Title, ":")))
		roffVerbs(b, inGroup(cmd, g.ID))
	}
}

// manOptions writes the section of cmd's flags.
func manOptions(b *strings.Builder, cmd *cobra.Command) {
	b.WriteString(".SH OPTIONS\n")
	for i, g := range groupsOf(cmd) {
		if i > 0 || g.title != "Flags" {
			fmt.Fprintf(b, ".SS %s\n", roff(g.title))
		}
		roffFlags(b, g.flags)
	}
}

// roffVerbs writes a table of verbs with their descriptions.
func roffVerbs(b *strings.Builder, verbs []*cobra.Command) {
	b.WriteString(".TS\nlb l.\n")
	for _, c := range verbs {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(b, "%s\t%s\n", roff(c.Name()), roff(c.Short))
		}
	}
	b.WriteString(".TE\n")
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// seeAlso returns the pages of cmd's parent and of its subcommands.
func seeAlso(cmd *cobra.Command) (pages []string) {
	page := func(c *cobra.Command) { pages = append(pages, `\fB`+roff(manName(c))+`\fP(1)`) }
	if cmd.HasParent() {
		page(cmd.Parent())
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			page(c)
		}
	}
	return pages
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff escapes text for use within a line.
func roff(text string) string { return roffEscapes.Replace(text) }

// roffLine escapes a whole line; a leading point would begin a roff request.
func roffLine(line string) string {
	line = strings.TrimSuffix(line, "\n")
	if strings.HasPrefix(line, ".") {
		line = `\&` + roff(line)
	} else {
		line = roff(line)
	}
	return line + "\n"
}

// roffText writes paragraphs, separated by empty lines. Lines that begin with two spaces become an indented block.
func roffText(b *strings.Builder, text string) {
	inside, ended := false, false
	for line := range strings.Lines(strings.TrimSpace(text)) {
		switch indented := strings.HasPrefix(line, "  "); {
		case strings.TrimSpace(line) == "":
			ended = true
			continue
		case indented && !inside:
			b.WriteString(".PP\n.EX\n")
		case indented && ended:
			b.WriteString("\n")
		case inside && !indented:
			b.WriteString(".EE\n.PP\n")
		case ended:
			b.WriteString(".PP\n")
		}
		inside, ended = strings.HasPrefix(line, "  "), false
		b.WriteString(roffLine(strings.TrimPrefix(line, "  ")))
	}
	if inside {
		b.WriteString(".EE\n")
	}
}

// roffFlags writes flags in the same order as help does.
func roffFlags(b *strings.Builder, flags []*pflag.Flag) {
	for _, f := range flags {
		value, _ := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fP, ", f.Shorthand)
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fP", roff(f.Name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fP", roff(value))
		}
		b.WriteString("\n" + roffLine(flagUsage(f)))
	}
}
