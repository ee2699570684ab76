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
	"FLUSHALL": true, "FLUSHDB": true, "SWAPDB": true,
	"CONFIG SET": true, "CONFIG REWRITE": true, "SCRIPT FLUSH": true, "FUNCTION FLUSH": true, "FUNCTION RESTORE": true,
	"SHUTDOWN": true, "DEBUG": true, "FAILOVER": true, "REPLICAOF": true, "SLAVEOF": true, "MIGRATE": true,
	"CLUSTER RESET": true, "CLUSTER FAILOVER": true, "ACL SETUSER": true, "ACL DELUSER": true, "ACL LOAD": true,
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
	if dangerous[name] || len(args) == 1 {
		return name, dangerous[name]
	}
	name += " " + strings.ToUpper(string(args[1]))
	return name, dangerous[name]
}

// confirmOptions are the flags of verbs that run what people type.
type confirmOptions struct{ yes bool }

func (o *confirmOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.yes, "yes", false, "run dangerous commands that the profile wants confirmed")
}

// question is what must be asked about a call on the target, "" for nothing, and
// what tells whether an answer lets it run.
func (o *confirmOptions) question(t target, args [][]byte) (question string, accepts func(answer string) bool) {
	name, yes := isDangerous(args)
	if !yes || o.yes || t.profile == "" {
		return "", nil
	}
	switch t.settings.Confirm.Level() {
	case profile.ConfirmYes:
		return fmt.Sprintf("%s on %s, %s. Run it? [y/N] ", name, t.profile, t), saysYes
	case profile.ConfirmName:
		return fmt.Sprintf("%s on %s, %s. Type %s to run it: ", name, t.profile, t, t.profile), func(answer string) bool {
			return strings.TrimSpace(answer) == t.profile
		}
	}
	return "", nil
}

// confirmed is the session of c, which asks before dangerous commands where
// somebody can answer, and refuses them where nobody can.
func (o *confirmOptions) confirmed(c *connection, s *streams) session {
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
