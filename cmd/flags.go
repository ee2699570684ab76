package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/internal/spelling"
)

// badFlag is the error of a flag that cannot be read: what it takes, what was
// probably meant, or what it is called here.
func badFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &wrong):
		return exit.Usagef("%s takes %s, not %q", flags.Names(wrong.GetFlag()), flagTakes(wrong.GetFlag()), wrong.GetValue())
	case errors.As(err, &missing):
		return exit.Usagef("%s needs %s after it", flags.Names(missing.GetFlag()), flagTakes(missing.GetFlag()))
	}
	return exit.Usage(err)
}

// flagTakes says what the values of a flag are.
func flagTakes(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "seconds, or a time such as 500ms"
	case "bool":
		return "no value, or true or false"
	}
	name, _ := pflag.UnquoteUsage(f)
	return name
}

// unknownFlag says what to give instead of a flag that cmd does not have.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	name := "--" + err.GetSpecifiedName()
	if err.GetSpecifiedShortnames() != "" {
		name = name[1:]
	}
	if here, ok := redisCLIFlags[name]; ok {
		return exit.Usagef("%s is a flag of redis-cli; here it is %s", name, here)
	}
	if !cmd.HasParent() {
		if exec, _, notFound := cmd.Find([]string{"exec"}); notFound == nil && hasFlag(exec, name) {
			return exit.Usagef("%s stands after a verb: meowdis exec %s … COMMAND", name, name)
		}
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, "--"+f.Name)
		}
	})
	if question := spelling.Question(spelling.Nearest(name, flags)); question != "" && strings.HasPrefix(name, "--") {
		return exit.Usagef("unknown flag: %s.%s", name, question)
	}
	return exit.Usagef("unknown flag: %s", name)
}

func hasFlag(cmd *cobra.Command, name string) bool {
	if long, ok := strings.CutPrefix(name, "--"); ok {
		return cmd.Flags().Lookup(long) != nil
	}
	return cmd.Flags().ShorthandLookup(name[1:]) != nil
}

// redisCLIFlags are those of redis-cli's flags that are called otherwise here.
var redisCLIFlags = map[string]string{
	"-p": "--url redis://HOST:PORT", "-u": "--url URL", "-s": "--url unix:///PATH",
	"-a": passwordFlags, "--pass": passwordFlags, "--askpass": passwordFlags, "--user": "--url redis://USER@HOST, with " + passwordFlags,
	"--tls": "--url rediss://HOST:PORT", "-c": "nothing: meowdis talks to one server",
	"--scan": "meowdis keys PATTERN", "--pattern": "meowdis keys PATTERN",
	"--bigkeys": "meowdis bigkeys", "--memkeys": "meowdis bigkeys", "--keystats": "meowdis stats",
	"--stat": "meowdis watch INFO", "--latency": "meowdis latency", "--latency-history": "meowdis latency", "--latency-dist": "meowdis latency",
	"--rdb": "meowdis export FILE.rdb", "-e": "not needed: an error makes the exit code 1", "--no-auth-warning": "not needed",
}

const passwordFlags = "--token PASSWORD, or a profile, which keeps it (meowdis profile add)"

// usageArgs makes a failed check of the arguments a usage error, which says how
// they are given, and refuses targets among them that are for a flag.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := targets.Misdirected(cmd, args); err != nil {
			return err
		}
		if check(cmd, args) == nil {
			return nil
		}
		what, instead := "an argument is missing", ""
		for n, arg := range args {
			if check(cmd, args[:n]) == nil {
				what, instead = fmt.Sprintf("%q is one argument too many", targets.ShownArg(arg)), targets.FlagInstead(cmd, arg)
			}
		}
		return exit.Usagef("%s: %s%s", what, strings.Join(append(parents(cmd), cmd.Use), " "), instead)
	}
}

// parents are the names of the commands that cmd is in, the program's first.
func parents(cmd *cobra.Command) (names []string) {
	for p := cmd.Parent(); p != nil; p = p.Parent() {
		names = append(names, p.Name())
	}
	slices.Reverse(names)
	return names
}
