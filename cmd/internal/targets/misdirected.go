package targets

import (
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/redis/commands"
)

// Misdirected returns an error if a target is given where the verb takes another argument, such as PATTERN or
// COMMAND: the verb would do nothing, or work on another target. It accepts every argument if a flag names the
// target.
func Misdirected(cmd *cobra.Command, args []string) error {
	takes := firstArgument(cmd)
	f := cmd.Flags()
	if takes == "" || f.Lookup("db") == nil || f.Changed("db") || f.Changed("url") || f.Changed("storage-url") || f.Changed("profile") {
		return nil
	}
	for i, arg := range args {
		if i > 0 && cmd.Args != nil && takes == "COMMAND" {
			break // arguments of a command may be anything
		}
		flag, what := targetFlag(arg, takes)
		if flag == "" {
			continue
		}
		line := "meowdis " + cmd.Name() + " " + flag
		if rest := slices.Delete(slices.Clone(args), i, i+1); len(rest) > 0 {
			line += " " + shellWords(rest...)
		} else if !strings.Contains(cmd.Use, "["+takes) {
			line += " " + takes
		}
		return exit.Usagef("%s is %s, but %s takes a %s; give the target with a flag: %s", ShownArg(arg), what, cmd.Name(), takes, line)
	}
	return nil
}

// firstArgument returns the name of the first argument in the verb's usage line, "" if it is a target.
func firstArgument(cmd *cobra.Command) string {
	_, words, _ := strings.Cut(cmd.Use, "[FLAGS] ")
	word := words
	if end := strings.IndexFunc(words, func(r rune) bool { return r != '[' && (r < 'A' || r > 'Z') }); end >= 0 {
		word = words[:end]
	}
	if word = strings.Trim(word, "["); word == "TARGET" {
		return ""
	}
	return word
}

// targetFlag returns the flag for the target that arg looks like, and its kind; "" if it looks like none. A file must
// exist. A verb that takes a FILE takes any path.
func targetFlag(arg, takes string) (flag, what string) {
	name, isProfile := strings.CutPrefix(arg, "@")
	switch scheme, _, isURL := strings.Cut(arg, "://"); {
	case isURL && slices.Contains(schemes(), scheme):
		return "--url URL", "a URL"
	case isProfile:
		config, err := profile.Load(ConfigFile())
		if _, err2 := config.Get(name); err == nil && err2 == nil || takes == "COMMAND" {
			return "--profile " + shellWords(name), "a profile"
		}
	case takes == "FILE" || takes == "COMMAND" && commands.Lookup(arg) != nil:
	case takes == "PATTERN" && isFile(arg) && !strings.ContainsAny(arg, `*?[\`), isDatabase(arg):
		return "--db " + shellWords(arg), "a file"
	}
	return "", ""
}

// FlagInstead suggests the flag for the target that a surplus argument looks like. It returns "" without one.
func FlagInstead(cmd *cobra.Command, arg string) string {
	if flag, _ := targetFlag(arg, "KEY"); flag != "" && cmd.Flags().Lookup("url") != nil {
		return "; give the target with a flag: " + flag
	}
	return ""
}

// ShownArg returns an argument without the password of a URL.
func ShownArg(arg string) string {
	if strings.Contains(arg, "://") {
		return ShownURL(arg)
	}
	return arg
}

// shellWords quotes words for a shell.
func shellWords(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; w == "" || strings.ContainsFunc(w, special) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-", r)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// isDatabase reports whether path is a SQLite file.
func isDatabase(path string) bool {
	const magic = "SQLite format 3\x00"
	if !isFile(path) {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}
