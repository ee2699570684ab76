package complete

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/keyspace/display"
)

// Our own scripts for the shells whose lines we parse. cobra's scripts let the shell evaluate the line at every TAB:
// a > emptied its file before the user pressed Enter.
//
//go:embed shells
var shellScripts embed.FS

// shells prints completion scripts, and answers their requests.
type shells struct {
	out    io.Writer
	getenv func(string) string
	// ask returns what cobra's own completion command prints for args.
	ask func(ctx context.Context, args []string) (string, error)
}

// AddShells replaces the scripts of cobra's verb completion under root by ours, and makes the verb refuse an unknown
// shell. Everything is written to out. ask returns what cobra's command cobra.ShellCompRequestCmd prints for args.
func AddShells(root *cobra.Command, out io.Writer, getenv func(string) string, ask func(ctx context.Context, args []string) (string, error)) {
	s := &shells{out, getenv, ask}
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	var shells []string
	for _, cmd := range completion.Commands() {
		shells = append(shells, cmd.Name())
		if script, err := shellScripts.ReadFile("shells/meowdis." + cmd.Name()); err == nil {
			cmd.RunE = func(*cobra.Command, []string) error {
				_, err := s.out.Write(script)
				return err
			}
			cmd.ResetFlags()
		}
		cmd.Short, cmd.Long, cmd.Example = "Print the completion script of "+cmd.Name(), "", sourceLine(cmd.Name())
	}
	completion.Short = "Print a script that completes verbs, flags and keys"
	completion.Long = `Prints a script that makes TAB complete verbs, flags and their values, profiles,
Redis commands, and keys of the target on the command line. The packages install
it where the shells find it.`
	completion.Example = sourceLine("bash") + "\n" + sourceLine("zsh") + "\n" + sourceLine("fish")
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return exit.Usagef("unknown shell %q: give one of %s", args[0], strings.Join(shells, ", "))
	}
	root.AddCommand(s.newLine())
}

// sourceLine returns the line that loads the script when a shell starts.
func sourceLine(shell string) string {
	switch shell {
	case "bash":
		return "  source <(meowdis completion bash)       # in ~/.bashrc"
	case "zsh":
		return "  source <(meowdis completion zsh)        # in ~/.zshrc, after compinit"
	case "fish":
		return "  meowdis completion fish | source        # in ~/.config/fish/config.fish"
	}
	return "  meowdis completion powershell | Out-String | Invoke-Expression # $PROFILE"
}

// newLine returns the hidden verb that the scripts call. The first line that it prints says whether file names may
// follow: none, files or both. The other lines are the offers in the shell's own form.
func (s *shells) newLine() *cobra.Command {
	return &cobra.Command{
		Use:                "__line bash LINE WORD TYPE COLUMNS | __line zsh LINE COLUMNS | __line fish WORD...",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			var lines []string
			switch {
			case len(args) == 5 && args[0] == "bash":
				lines = s.bash(cmd.Context(), readShellLine(args[1], s.getenv), args[2], args[3], args[4])
			case len(args) == 3 && args[0] == "zsh":
				lines = s.zsh(cmd.Context(), readShellLine(args[1], s.getenv), args[2])
			case len(args) >= 2 && args[0] == "fish":
				last := len(args) - 1
				lines = s.fish(cmd.Context(), shellLine{words: append([]string{"meowdis"}, args[1:last]...), typed: args[last]})
			default:
				return exit.Usagef("usage: meowdis %s", cmd.Use)
			}
			_, err := io.WriteString(s.out, strings.Join(lines, "\n")+"\n")
			return err
		},
	}
}

// offer holds a possible word at the cursor, with its description.
type offer struct{ value, about string }

// Whether to offer file names at the cursor.
const (
	filesNot  = "none"
	filesOnly = "files"
	filesToo  = "both"
)

// offers returns the possible words at the cursor, and whether to offer file names.
func (s *shells) offers(ctx context.Context, l shellLine) (found []offer, files string) {
	switch {
	case l.file:
		return nil, filesOnly
	case l.opaque, len(l.words) == 0:
		return nil, filesNot
	}
	printed, err := s.ask(ctx, append(l.words[1:len(l.words):len(l.words)], l.typed))
	if err != nil {
		return nil, filesNot
	}
	text := strings.TrimSuffix("\n"+printed, "\n")
	last := strings.LastIndex(text, "\n:")
	if last < 0 {
		return nil, filesNot
	}
	directive, err := strconv.Atoi(text[last+len("\n:"):])
	switch d := cobra.ShellCompDirective(directive); {
	case err != nil, d&cobra.ShellCompDirectiveError != 0:
		return nil, filesNot
	case d&(cobra.ShellCompDirectiveFilterFileExt|cobra.ShellCompDirectiveFilterDirs) != 0:
		return nil, filesOnly // files may have any name
	case d&cobra.ShellCompDirectiveNoFileComp != 0:
		files = filesNot
	}
	for line := range strings.Lines(text[:last]) {
		if value, about, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); value != "" {
			// Backquotes mark the name of a flag's value in help.
			found = append(found, offer{value, strings.ReplaceAll(about, "`", "")})
		}
	}
	if files == "" {
		files = filesToo
		if len(found) == 0 {
			files = filesOnly
		}
	}
	return found, files
}

// value returns the part of the word that cobra completes: of --flag=value only the value.
func (l shellLine) value() string {
	if name, value, ok := strings.Cut(l.typed, "="); ok && strings.HasPrefix(name, "-") {
		return value
	}
	return l.typed
}

// bash returns the lines for bash, which replaces word by an offer. word is the part of the cursor's word that bash
// treats as one word: characters such as : and quotes split it. The typed text is kept.
func (s *shells) bash(ctx context.Context, l shellLine, word, kind, columns string) []string {
	found, files := s.offers(ctx, l)
	typed := l.value()
	found = slices.DeleteFunc(found, func(o offer) bool {
		return !strings.HasPrefix(o.value, typed) &&
			(word != typed || l.quote != 0 || len(o.value) < len(typed) || !strings.EqualFold(o.value[:len(typed)], typed))
	})
	for i, o := range found {
		switch rest, ok := strings.CutPrefix(o.value, typed); {
		case files == filesToo: // bash quotes names of files by itself
			found[i].value = word + rest
		case ok:
			found[i].value = word + l.escaped(rest)
		default: // differs in case
			found[i].value = l.escaped(o.value)
		}
	}
	const insertsOne, insertsAll = "37", "42"
	lines := []string{files}
	if len(found) == 1 || files == filesToo || kind == insertsOne || kind == insertsAll {
		for _, o := range found {
			lines = append(lines, o.value)
		}
		return lines
	}
	return append(lines, described(found, columns)...)
}

// zsh returns the lines for zsh, which quotes by itself: the value, a tab, and the text to show.
func (s *shells) zsh(ctx context.Context, l shellLine, columns string) []string {
	found, files := s.offers(ctx, l)
	lines := []string{files}
	for i, shown := range described(found, columns) {
		lines = append(lines, found[i].value+"\t"+shown)
	}
	return lines
}

// fish returns the lines for fish, which quotes and aligns by itself.
func (s *shells) fish(ctx context.Context, l shellLine) []string {
	found, files := s.offers(ctx, l)
	lines := []string{files}
	for _, o := range found {
		lines = append(lines, strings.TrimSuffix(o.value+"\t"+o.about, "\t"))
	}
	return lines
}

// described returns one line for each offer, with its description, cut to a number of columns.
func described(found []offer, columns string) (lines []string) {
	width, err := strconv.Atoi(columns)
	if err != nil || width < 20 {
		width = 80
	}
	widest := 0
	for _, o := range found {
		widest = max(widest, ansi.StringWidth(o.value))
	}
	for _, o := range found {
		line := o.value
		if room := width - widest - 5; o.about != "" && room > 10 {
			line = fmt.Sprintf("%s  (%s)", display.Fit(o.value, widest), display.Truncate(o.about, room))
		}
		lines = append(lines, line)
	}
	return lines
}
