package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPage is the page about cmd for man(1), in roff: https://man7.org/linux/man-pages/man7/groff_man.7.html.
// date is what stands at its foot.
func manPage(cmd *cobra.Command, section, date string) []byte {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".nh\n.TH %q %q %q \"meowdis\" \"meowdis\"\n", strings.ToUpper(manName(cmd)), section, date)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	if cmd.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(cmd.UseLine()))
	}
	b.WriteString(".SH DESCRIPTION\n")
	roffText(&b, cmd.Long)
	if cmd.Long == "" {
		roffText(&b, cmd.Short)
	}
	roffFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	roffFlags(&b, "OPTIONS OF ALL VERBS", cmd.InheritedFlags())
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLE\n.EX\n")
		for line := range strings.Lines(cmd.Example) {
			b.WriteString(roffLine(line))
		}
		b.WriteString(".EE\n")
	}
	if also := seeAlso(cmd); len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(also, ", "))
	}
	return []byte(b.String())
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// seeAlso are the pages of the command that cmd is part of, and of its own.
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

// roff is text that shows as it is, and not at the beginning of a line.
func roff(text string) string { return roffEscapes.Replace(text) }

// roffLine escapes a line of text, so that a leading point does not make it a request of roff.
func roffLine(line string) string {
	line = strings.TrimSuffix(line, "\n")
	if strings.HasPrefix(line, ".") {
		line = `\&` + roff(line)
	} else {
		line = roff(line)
	}
	return line + "\n"
}

// roffText writes paragraphs, which an empty line ends, and lines that begin with blanks as they are.
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
		b.WriteString(roffLine(line))
	}
	if inside {
		b.WriteString(".EE\n")
	}
}

// roffFlags writes the flags that help shows, as it writes them.
func roffFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fP, ", f.Shorthand)
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fP", roff(f.Name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fP", roff(value))
		}
		b.WriteString("\n" + roffLine(usage))
	})
}
