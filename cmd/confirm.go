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
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// manyKeys is from how many keys on a DEL is dangerous: a list that long came out
// of a program.
const manyKeys = 10

// isDangerous reports whether a call is one that a profile may want confirmed, and
// what to call it.
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

// confirmOptions are the flags of verbs that run what people type, and of those
// that write by themselves.
type confirmOptions struct{ yes bool }

func (o *confirmOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.yes, "yes", false, "go ahead where the profile wants to be asked")
}

// asks reports whether anything may have to be asked on the target.
func (o *confirmOptions) asks(t targets.Target) bool {
	return !o.yes && t.Profile != "" && t.Settings.Confirm.Level() != profile.ConfirmNone
}

// question is what must be asked about a call on the target, "" for nothing, and
// what reports whether an answer lets it run.
func (o *confirmOptions) question(t targets.Target, args [][]byte) (question string, accepts func(answer string) bool) {
	name, yes := isDangerous(args)
	if !yes || !o.asks(t) {
		return "", nil
	}
	return ask(t, name)
}

// ask is the question about what is called name, as the target's profile wants it
// asked.
func ask(t targets.Target, name string) (question string, accepts func(answer string) bool) {
	if t.Settings.Confirm.Level() == profile.ConfirmYes {
		return fmt.Sprintf("%s on %s, %s. Run it? [y/N] ", name, t.Profile, t), saysYes
	}
	return fmt.Sprintf("%s on %s, %s. Type %s to run it: ", name, t.Profile, t, t.Profile), func(answer string) bool {
		return strings.TrimSpace(answer) == t.Profile
	}
}

// confirmed is the session of c, which asks before dangerous commands where a user
// can answer, and refuses them where there is no terminal.
func (o *confirmOptions) confirmed(c *targets.Conn, s *streams) targets.Session {
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

// refusal is why something is not to be done on the target, which is one that asks:
// the user did not say yes. It is "" after a yes.
func (o *confirmOptions) refusal(ctx context.Context, s *streams, t targets.Target, name string) string {
	if !s.inTerminal {
		return "CONFIRM " + name + " on profile " + t.Profile + " needs --yes where there is no terminal to ask on"
	}
	question, accepts := ask(t, name)
	fmt.Fprint(s.err, question)
	line, err := bufio.NewReader(s.input(ctx)).ReadString('\n') // no line is no answer
	if err != nil {
		fmt.Fprintln(s.err) // after the question
	}
	if accepts(line) {
		return ""
	}
	return "CONFIRM not confirmed: nothing was run"
}

// mayWrite lets a verb that writes by itself go on, or says why not and returns
// errAnswered: the target is read-only, or its profile wants a yes that was not given.
// A file that is not there yet has nothing to lose.
func (o *confirmOptions) mayWrite(ctx context.Context, s *streams, targets *targets.Options, t targets.Target, verb string) error {
	refusal := ""
	switch {
	case targets.RefusesWrites(t):
		refusal = "READONLY " + verb + " writes, and " + t.String() + " is read-only"
	case o.asks(t) && !t.IsNew():
		refusal = o.refusal(ctx, s, t, verb)
	}
	return refusedWith(ctx, s, refusal)
}

// mayRun is mayWrite for a command that a verb runs again and again.
func (o *confirmOptions) mayRun(ctx context.Context, s *streams, t targets.Target, args [][]byte) error {
	name, yes := isDangerous(args)
	if !yes || !o.asks(t) {
		return nil
	}
	return refusedWith(ctx, s, o.refusal(ctx, s, t, name))
}

// refusedWith prints a refusal, if there is one, and returns errAnswered for it. When a
// signal ended the question, it returns that.
func refusedWith(ctx context.Context, s *streams, refusal string) error {
	switch {
	case refusal == "":
		return nil
	case ctx.Err() != nil:
		return exit.Stopped(ctx, "nothing was run")
	}
	fmt.Fprintf(s.err, "meowdis: %s\n", refusal)
	return exit.ErrAnswered
}

func saysYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
