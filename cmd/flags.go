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
	case errors.Is(err, targets.ErrOneTarget):
		return exit.Usage(targets.ErrOneTarget)
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &wrong):
		return exit.Usagef("%s takes %s, not %q", flags.Names(wrong.GetFlag()), flagTakes(wrong.GetFlag()), wrong.GetValue())
	case errors.As(err, &missing) && missing.GetFlag().Shorthand == "h":
		return pflag.ErrHelp // -h alone, as in redis-cli
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
	if !cmd.HasParent() {
		if exec, _, notFound := cmd.Find([]string{"exec"}); notFound == nil && hasFlag(exec, name) {
			return exit.Usagef("%s comes after a verb: meowdis exec %s … COMMAND", name, name)
		}
	}
	if here, ok := redisCLIFlags[name]; ok {
		if strings.HasPrefix(here, "not ") {
			return exit.Usagef("%s, a flag of redis-cli, is %s", name, here)
		}
		return exit.Usagef("%s is a flag of redis-cli; here it is %s", name, here)
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
	"-p": serverFlags, "-u": serverFlags, "-s": serverFlags, "-a": serverFlags, "--pass": serverFlags, "--askpass": serverFlags,
	"--user": serverFlags, "--tls": serverFlags, "-c": "not needed: meowdis follows a Redis Cluster by itself",
	"--scan": "meowdis keys PATTERN", "--pattern": "meowdis keys PATTERN",
	"--bigkeys": "meowdis bigkeys", "--memkeys": "meowdis bigkeys", "--memkeys-samples": "meowdis bigkeys --samples", "--keystats": "meowdis stats",
	"--keystats-samples":  "meowdis stats --samples",
	"--hotkeys":           "meowdis bigkeys --hot",
	"--intrinsic-latency": "meowdis latency --intrinsic DURATION",
	"--lru-test":          "not available: it fills a server with random keys to measure the hit rate of its cache; meowdis stats --live shows the hit rate of real clients",
	"--cursor":            "--limit of meowdis stats, which reads a sample: a scan begins at the first key",
	"--count":             "not needed: meowdis chooses the size of a page",
	"--top":               "meowdis stats --top, and meowdis bigkeys --top",
	"--replica":           "meowdis monitor for commands, or meowdis serve --replicate for files",
	"--functions-rdb":     "meowdis exec FUNCTION DUMP, or meowdis export, which includes functions",
	"--ldb":               "meowdis exec --ldb --eval FILE, or :debug FILE in meowdis repl", "--ldb-sync-mode": "meowdis exec --ldb-sync-mode --eval FILE",
	"--show-pushes":     ":set pushes on in meowdis repl",
	"--quoted-input":    "not needed: commands from stdin, and in meowdis repl, have quotes and escapes",
	"--quoted-json":     "--json, which marks bytes that are not UTF-8",
	"--quoted-pattern":  "not needed: the shell quotes a pattern",
	"--no-auth-warning": "not needed: meowdis prints no warning",
	"--pipe-timeout":    "--timeout", "--cluster": "redis-cli --cluster: meowdis does not manage clusters",
	"--tls-ciphers": "not available: Go chooses secure ciphers", "--tls-ciphersuites": "not available: Go chooses secure ciphers",
	"--stat": "meowdis stats --live", "--latency": "meowdis latency", "--latency-history": "meowdis latency", "--latency-dist": "meowdis latency",
	"--rdb": "meowdis export SOURCE FILE.rdb", "-e": "not needed: an error makes the exit code 1",
}

// serverFlags says what replaces redis-cli's flags for a connection in verbs that do not have them.
const serverFlags = "-t redis://HOST:PORT, or redis-cli's own flags on exec, repl and monitor"

const passwordFlags = "-a PASSWORD, --token PASSWORD, or a profile that stores it (meowdis profile add)"

// usageArgs turns a failed check of the arguments into a usage error with the usage line.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		surplus := ""
		for n, arg := range args {
			if check(cmd, args[:n]) == nil {
				surplus = arg
			}
		}
		return wrongArgs(cmd, surplus)
	}
}

// wrongArgs returns the error for a surplus argument, or for a missing one if surplus is empty.
func wrongArgs(cmd *cobra.Command, surplus string) error {
	what := "an argument is missing"
	if surplus != "" {
		what = fmt.Sprintf("%q is one argument too many", targets.ShownArg(surplus))
	}
	return exit.Usagef("%s: %s", what, strings.Join(append(parents(cmd), cmd.Use), " "))
}

// ownArgs sets the target of a verb whose first argument may name it, and returns the other arguments.
func ownArgs(cmd *cobra.Command, o *targets.Options, args []string, own targets.Own) ([]string, error) {
	rest, err := o.Split(args, own)
	if err != nil {
		return nil, err
	}
	if own.What == "COMMAND" && len(rest) < len(args) { // flags may follow the target
		if err := cmd.Flags().Parse(rest); err != nil {
			return nil, badFlag(cmd, err)
		}
		rest = cmd.Flags().Args()
		flags.NoteOld(cmd.ErrOrStderr(), cmd.Flags())
	}
	switch {
	case len(rest) < own.Least:
		return nil, wrongArgs(cmd, "")
	case own.Most >= 0 && len(rest) > own.Most:
		return nil, wrongArgs(cmd, rest[own.Most])
	}
	return rest, nil
}

// first returns the first argument, or "".
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// parents returns the names of the commands above cmd, the program's first.
func parents(cmd *cobra.Command) (names []string) {
	for p := cmd.Parent(); p != nil; p = p.Parent() {
		names = append(names, p.Name())
	}
	slices.Reverse(names)
	return names
}
