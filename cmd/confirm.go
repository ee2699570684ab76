package cmd

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/profile"
	"github.com/meowdis/meowdis/resp"
)

// dangerous are the commands that destroy much at once, or change or stop the
// server itself. Some are of servers that know more than we do.
var dangerous = map[string]bool{
	"FLUSHALL": true, "FLUSHDB": true, "SWAPDB": true, "SHUTDOWN": true, "DEBUG": true, "FAILOVER": true, "REPLICAOF": true,
	"SLAVEOF": true, "MIGRATE": true,
}

// dangerousSubcommands are those of the commands that are not so as a whole.
var dangerousSubcommands = map[string][]string{
	"CONFIG": {"SET", "REWRITE"}, "SCRIPT": {"FLUSH"}, "FUNCTION": {"FLUSH", "RESTORE"}, "CLUSTER": {"RESET", "FAILOVER"},
	"ACL": {"SETUSER", "DELUSER", "LOAD"},
}

// manyKeys is from how many keys on a DEL is dangerous: a list that long came out
// of a program.
const manyKeys = 10

// isDangerous tells whether a call is one that a profile may want confirmed, and
// what to call it.
func isDangerous(args [][]byte) (name string, yes bool) {
	if len(args) == 0 {
		return "", false
	}
	name = strings.ToUpper(string(args[0]))
	if (name == "DEL" || name == "UNLINK") && len(args) > manyKeys {
		return fmt.Sprintf("%s of %d keys", name, len(args)-1), true
	}
	for _, sub := range dangerousSubcommands[name] {
		if len(args) > 1 && strings.EqualFold(string(args[1]), sub) {
			return name + " " + sub, true
		}
	}
	return name, dangerous[name]
}

// confirmOptions are the flags of verbs that run what people type.
type confirmOptions struct{ yes bool }

func (o *confirmOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.yes, "yes", false, "run dangerous commands that the profile wants confirmed")
}

// asks tells whether anything may have to be asked on the target.
func (o *confirmOptions) asks(t target) bool {
	return !o.yes && t.profile != "" && t.settings.Confirm.Level() != profile.ConfirmNone
}

// question is what must be asked about a call on the target, "" for nothing, and
// what tells whether an answer lets it run.
func (o *confirmOptions) question(t target, args [][]byte) (question string, accepts func(answer string) bool) {
	name, yes := isDangerous(args)
	if !yes || !o.asks(t) {
		return "", nil
	}
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
	return &guarded{session: c.session, refuse: func(_ context.Context, args [][]byte) (resp.Value, bool) {
		question, accepts := o.question(c.target, args)
		if question == "" {
			return resp.Value{}, false
		}
		if !s.inTerminal {
			name, _ := isDangerous(args)
			return resp.MakeError("CONFIRM " + name + " on profile " + c.target.profile + " needs --yes where nobody can be asked"), true
		}
		fmt.Fprint(s.err, question)
		line, _ := bufio.NewReader(s.in).ReadString('\n') // no line is no answer
		return notConfirmed, !accepts(line)
	}}
}

// notConfirmed is the reply to a command that was not confirmed.
var notConfirmed = resp.MakeError("CONFIRM not confirmed: nothing was run")

func saysYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
