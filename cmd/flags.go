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

// badFlag turns pflag's error into a usage error that names the expected value, a similar flag, or our name for a
// flag of redis-cli.
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
		return exit.Usagef("%s needs %s", flags.Names(missing.GetFlag()), flagTakes(missing.GetFlag()))
	}
	return exit.Usage(err)
}

// flagTakes describes the values of a flag.
func flagTakes(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "seconds, or a duration such as 500ms"
	case "bool":
		return "no value, or true or false"
	}
	name, _ := pflag.UnquoteUsage(f)
	return name
}

// unknownFlag suggests a replacement for a flag that cmd does not have.
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
			return exit.Usagef("%s comes after a verb: meowdis exec %s … COMMAND", name, name)
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

// redisCLIFlags maps flags of redis-cli to our equivalents.
var redisCLIFlags = map[string]string{
	"-p": "--url redis://HOST:PORT", "-u": "--url URL", "-s": "--url unix:///PATH",
	"-a": passwordFlags, "--pass": passwordFlags, "--askpass": passwordFlags, "--user": "--url redis://USER@HOST, with " + passwordFlags,
	"--tls": "--url rediss://HOST:PORT", "-c": "not needed: meowdis connects to one server",
	"--scan": "meowdis keys PATTERN", "--pattern": "meowdis keys PATTERN",
	"--bigkeys": "meowdis bigkeys", "--memkeys": "meowdis bigkeys", "--keystats": "meowdis stats",
	"--stat": "meowdis watch INFO", "--latency": "meowdis latency", "--latency-history": "meowdis latency", "--latency-dist": "meowdis latency",
	"--rdb": "meowdis export FILE.rdb", "-e": "not needed: an error makes the exit code 1", "--no-auth-warning": "not needed",
}

const passwordFlags = "--token PASSWORD, or a profile that stores it (meowdis profile add)"

// usageArgs turns a failed check of the arguments into a usage error with the usage line. It also refuses a target
// among them that belongs to a flag.
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

// parents returns the names of the commands above cmd, the program's first.
func parents(cmd *cobra.Command) (names []string) {
	for p := cmd.Parent(); p != nil; p = p.Parent() {
		names = append(names, p.Name())
	}
	slices.Reverse(names)
	return names
}
