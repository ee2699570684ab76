package cmd

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// DEL and UNLINK of more than manyKeys-1 keys are dangerous: a program wrote a list that long.
const manyKeys = 10

// isDangerous reports whether a profile may ask for confirmation before args, and returns the name to show.
func isDangerous(args [][]byte) (name string, yes bool) {
	if len(args) == 0 {
		return "", false
	}
	cmd := commands.Known(args)
	if cmd == nil {
		return "", false
	}
	if (cmd.Name == "DEL" || cmd.Name == "UNLINK") && len(args) > manyKeys {
		return fmt.Sprintf("%s of %d keys", cmd.Name, len(args)-1), true
	}
	return cmd.Name, cmd.Has(commands.Dangerous)
}

// confirmOptions holds the flags of verbs that run commands a user types, or that write.
type confirmOptions struct{ yes bool }

func (o *confirmOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask for confirmation")
}

// asks reports whether the profile of t asks for confirmation before dangerous commands.
func (o *confirmOptions) asks(t targets.Target) bool {
	return !o.yes && t.Profile != "" && t.Settings.Confirm.Level() != profile.ConfirmNone
}

// question returns the question to ask before args run on t, and a function that checks the answer. It returns "" if
// args can run at once.
func (o *confirmOptions) question(t targets.Target, args [][]byte) (question string, accepts func(answer string) bool) {
	name, yes := isDangerous(args)
	if !yes || !o.asks(t) {
		return "", nil
	}
	return askFor(t, name)
}

// askFor returns the question about name in the form that the target's profile chose.
func askFor(t targets.Target, name string) (question string, accepts func(answer string) bool) {
	if t.Settings.Confirm.Level() == profile.ConfirmYes {
		return fmt.Sprintf("%s on %s, %s. Run it? [y/N] ", name, t.Profile, t), isYes
	}
	return fmt.Sprintf("%s on %s, %s. Type %s to run it: ", name, t.Profile, t, t.Profile), func(answer string) bool {
		return strings.TrimSpace(answer) == t.Profile
	}
}

// confirmed wraps the session of c: dangerous commands need the user's confirmation, and are refused without a
// terminal.
func (o *confirmOptions) confirmed(c *targets.Conn, s *streams) keyspace.Session {
	if !o.asks(c.Target) {
		return c.Session
	}
	return &targets.Guard{Session: c.Session, Refuse: func(ctx context.Context, args [][]byte) (resp.Value, bool) {
		name, yes := isDangerous(args)
		if !yes {
			return resp.Value{}, false
		}
		refusal := o.refusal(ctx, s, c.Target, name)
		return resp.MakeError(refusal), refusal != ""
	}}
}

// refusal asks the user and returns "" after a yes, otherwise the reason that nothing runs. The caller has checked
// that the target asks.
func (o *confirmOptions) refusal(ctx context.Context, s *streams, t targets.Target, name string) string {
	if !s.inTerminal {
		return "CONFIRM " + name + " on profile " + t.Profile + " needs confirmation, and stdin is not a terminal: give --yes to run it"
	}
	question, accepts := askFor(t, name)
	fmt.Fprint(s.err, question)
	line, err := bufio.NewReader(s.input(ctx)).ReadString('\n') // at the end of input, line is empty
	if err != nil {
		fmt.Fprintln(s.err) // ends the line of the question
	}
	if accepts(line) {
		return ""
	}
	return "CONFIRM not confirmed: nothing was run"
}

// confirmWrite returns nil if a verb may write to t. It prints the reason and returns exit.ErrReported if the target is
// read-only or the user does not confirm. A file that does not exist yet needs no confirmation.
func (o *confirmOptions) confirmWrite(ctx context.Context, s *streams, targets *targets.Options, t targets.Target, verb string) error {
	refusal := ""
	switch {
	case targets.RefusesWrites(t):
		refusal = "READONLY " + verb + " writes, and " + t.String() + " is read-only"
	case o.asks(t) && !t.IsNew():
		refusal = o.refusal(ctx, s, t, verb)
	}
	return refusedWith(ctx, s, refusal)
}

// confirmRun is confirmWrite for a command that a verb repeats.
func (o *confirmOptions) confirmRun(ctx context.Context, s *streams, t targets.Target, args [][]byte) error {
	name, yes := isDangerous(args)
	if !yes || !o.asks(t) {
		return nil
	}
	return refusedWith(ctx, s, o.refusal(ctx, s, t, name))
}

// refusedWith prints a refusal and returns exit.ErrReported; it returns nil for "". If a signal ended the question,
// it returns the signal's error.
func refusedWith(ctx context.Context, s *streams, refusal string) error {
	switch {
	case refusal == "":
		return nil
	case ctx.Err() != nil:
		return exit.Stopped(ctx, "nothing was run")
	}
	fmt.Fprintf(s.err, "meowdis: %s\n", refusal)
	return exit.ErrReported
}

func isYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
