package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPage is the man page of a verb or a topic, with the text that its help has. It
// bears no date: the same source makes the same page.
func manPage(cmd *cobra.Command) []byte {
	cmd.InitDefaultHelpFlag()
	path := cmd.CommandPath()
	name := strings.ReplaceAll(path, " ", "-")
	page := fmt.Appendf(nil, ".TH %s %s \"\" meowdis meowdis\n.nh\n.ad l\n", roff(strings.ToUpper(name)), manSection(cmd))
	page = fmt.Appendf(page, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	topic := cmd.IsAdditionalHelpTopicCommand()
	if !topic {
		page = fmt.Appendf(page, ".SH SYNOPSIS\n\\fB%s\\fP%s\n", roff(path), roff(strings.TrimPrefix(cmd.UseLine(), path)))
	}
	page = appendProse(append(page, ".SH DESCRIPTION\n"...), firstOf(cmd.Long, cmd.Short))
	if !topic {
		page = appendFlags(append(page, ".SH OPTIONS\n"...), cmd.Flags())
	}
	if cmd.Example != "" {
		page = appendAsIs(append(page, ".SH EXAMPLES\n"...), cmd.Example)
	}
	if see := manNeighbours(cmd); len(see) > 0 {
		page = fmt.Appendf(page, ".SH SEE ALSO\n%s\n", strings.Join(see, ",\n"))
	}
	return page
}

// manSection is where a page belongs: commands, or what is worth knowing.
func manSection(cmd *cobra.Command) string {
	if cmd.IsAdditionalHelpTopicCommand() {
		return "7"
	}
	return "1"
}

// manNeighbours are the pages above and below that of cmd.
func manNeighbours(cmd *cobra.Command) (see []string) {
	mention := func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		see = append(see, fmt.Sprintf("\\fB%s\\fP(%s)", roff(name), manSection(c)))
	}
	if cmd.HasParent() {
		mention(cmd.Parent())
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			mention(c)
		}
	}
	return see
}

// appendProse appends paragraphs; one with indented lines is a table or a listing,
// and keeps its lines.
func appendProse(page []byte, text string) []byte {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			page = append(page, ".PP\n"...)
		}
		if strings.Contains("\n"+paragraph, "\n ") {
			page = appendAsIs(page, paragraph)
		} else {
			page = append(append(page, roff(paragraph)...), '\n')
		}
	}
	return page
}

func appendAsIs(page []byte, text string) []byte {
	return fmt.Appendf(page, ".nf\n%s\n.fi\n", roff(text))
}

func appendFlags(page []byte, flags *pflag.FlagSet) []byte {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		page = append(page, ".TP\n"...)
		if f.Shorthand != "" {
			page = fmt.Appendf(page, "\\fB\\-%s\\fP, ", roff(f.Shorthand))
		}
		value, usage := pflag.UnquoteUsage(f)
		page = fmt.Appendf(page, "\\fB\\-\\-%s\\fP", roff(f.Name))
		if value != "" {
			page = fmt.Appendf(page, " \\fI%s\\fP", roff(value))
		}
		page = fmt.Appendf(page, "\n%s\n", roff(usage+shownDefault(f)))
	})
	return page
}

// shownDefault is what a flag is when it is not given, unless that goes without saying.
func shownDefault(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "0", "false", "[]", "0s":
		return ""
	}
	if f.Value.Type() == "string" {
		return fmt.Sprintf(" (default %q)", f.DefValue)
	}
	return fmt.Sprintf(" (default %s)", f.DefValue)
}

// roff is text as roff shows it unchanged: a hyphen is what somebody types, and no
// line is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
