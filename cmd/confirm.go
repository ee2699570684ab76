package cmd

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/commands"
	"github.com/meowdis/meowdis/profile"
	"github.com/meowdis/meowdis/resp"
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
func (o *confirmOptions) asks(t target) bool {
	return !o.yes && t.profile != "" && t.settings.Confirm.Level() != profile.ConfirmNone
}

// question is what must be asked about a call on the target, "" for nothing, and
// what reports whether an answer lets it run.
func (o *confirmOptions) question(t target, args [][]byte) (question string, accepts func(answer string) bool) {
	name, yes := isDangerous(args)
	if !yes || !o.asks(t) {
		return "", nil
	}
	return ask(t, name)
}

// ask is the question about what is called name, as the target's profile wants it
// asked.
func ask(t target, name string) (question string, accepts func(answer string) bool) {
	if t.settings.Confirm.Level() == profile.ConfirmYes {
		return fmt.Sprintf("%s on %s, %s. Run it? [y/N] ", name, t.profile, t), saysYes
	}
	return fmt.Sprintf("%s on %s, %s. Type %s to run it: ", name, t.profile, t, t.profile), func(answer string) bool {
		return strings.TrimSpace(answer) == t.profile
	}
}

// confirmed is the session of c, which asks before dangerous commands where
// somebody can answer, and refuses them where nobody can.
func (o *confirmOptions) confirmed(c *connection, s *streams) session {
	if !o.asks(c.target) {
		return c.session
	}
	return &guarded{session: c.session, refuse: func(ctx context.Context, args [][]byte) (resp.Value, bool) {
		name, yes := isDangerous(args)
		if !yes {
			return resp.Value{}, false
		}
		refusal := o.refusal(ctx, s, c.target, name)
		return resp.MakeError(refusal), refusal != ""
	}}
}

// refusal is why something is not to be done on the target, which is one that asks:
// nobody said yes. It is "" when somebody did.
func (o *confirmOptions) refusal(ctx context.Context, s *streams, t target, name string) string {
	if !s.inTerminal {
		return "CONFIRM " + name + " on profile " + t.profile + " needs --yes where nobody can be asked"
	}
	question, accepts := ask(t, name)
	fmt.Fprint(s.err, question)
	line, err := bufio.NewReader(s.input(ctx)).ReadString('\n') // no line is no answer
	if err != nil {
		fmt.Fprintln(s.err) // behind the question
	}
	if accepts(line) {
		return ""
	}
	return "CONFIRM not confirmed: nothing was run"
}

// mayWrite lets a verb that writes by itself go on, or says why not and returns
// errAnswered: the target is read-only, or its profile wants a yes that nobody gave.
// A file that is not there yet has nothing to lose.
func (o *confirmOptions) mayWrite(ctx context.Context, s *streams, targets *targetOptions, t target, verb string) error {
	refusal := ""
	switch {
	case targets.refusesWrites(t):
		refusal = "READONLY " + verb + " writes, and " + t.String() + " is read-only"
	case o.asks(t) && !t.isNew():
		refusal = o.refusal(ctx, s, t, verb)
	}
	return told(ctx, s, refusal)
}

// mayRun is mayWrite for a command that a verb runs again and again.
func (o *confirmOptions) mayRun(ctx context.Context, s *streams, t target, args [][]byte) error {
	name, yes := isDangerous(args)
	if !yes || !o.asks(t) {
		return nil
	}
	return told(ctx, s, o.refusal(ctx, s, t, name))
}

// told prints a refusal, if there is one, and returns errAnswered for it; a signal
// that ended the question is told as one.
func told(ctx context.Context, s *streams, refusal string) error {
	switch {
	case refusal == "":
		return nil
	case ctx.Err() != nil:
		return stopped(ctx, "nothing was run")
	}
	fmt.Fprintf(s.err, "meowdis: %s\n", refusal)
	return errAnswered
}

func saysYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
