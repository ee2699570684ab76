package remote

import (
	"context"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// commandName returns the first word of a call in upper case, or "" if the call is empty.
func commandName(args [][]byte) string {
	if len(args) == 0 {
		return ""
	}
	return strings.ToUpper(string(args[0]))
}

// Repeatable reports whether all calls may be sent again after an unknown outcome: each only reads, or has the
// same effect and reply when it runs twice.
func Repeatable(calls [][][]byte) bool {
	for _, args := range calls {
		if !readsOnly(args) && !idempotent(args) {
			return false
		}
	}
	return true
}

func readsOnly(args [][]byte) bool {
	cmd, _ := commands.Find(args)
	return cmd != nil && cmd.Flags&commands.ReadOnly != 0
}

func idempotent(args [][]byte) bool {
	cmd, _ := commands.Find(args)
	if !cmd.Has(commands.Repeatable) {
		return false
	}
	if cmd.Name == "SET" {
		for _, option := range args[min(3, len(args)):] {
			switch strings.ToUpper(string(option)) {
			case "NX", "XX", "GET", "IFEQ", "IFNE", "IFDEQ", "IFDNE":
				return false
			}
		}
	}
	return true
}

// UntilError runs calls on a server that cannot stop at an error. Commands that only read are sent sharedContext
// with the command after them, because an extra read has no effect. Every other command waits for the replies
// before it.
func UntilError(ctx context.Context, calls [][][]byte, pipeline func(context.Context, [][][]byte) ([]resp.Value, error)) ([]resp.Value, error) {
	replies := make([]resp.Value, 0, len(calls))
	for len(replies) < len(calls) {
		rest := calls[len(replies):]
		n := 1
		for n < len(rest) && readsOnly(rest[n-1]) {
			n++
		}
		got, err := pipeline(ctx, rest[:n])
		if err != nil {
			return replies, err
		}
		for _, v := range got {
			replies = append(replies, v)
			if v.HasError() {
				return replies, nil
			}
		}
	}
	return replies, nil
}
