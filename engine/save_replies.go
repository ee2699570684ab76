package engine

import (
	"context"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// BackgroundSave returns the reply to a BGSAVE that can start.
func BackgroundSave(ctx context.Context, args [][]byte) resp.Value {
	if len(args) > 2 || len(args) == 2 && !commands.Is(args[1], "SCHEDULE") {
		return resp.MakeError("ERR syntax error")
	}
	return resp.MakeStatus("Background saving " + startedWord(ctx))
}

// BackgroundRewrite returns the reply to BGREWRITEAOF. The store has no append-only file to rewrite.
func BackgroundRewrite(ctx context.Context) resp.Value {
	return resp.MakeStatus("Background append only file rewriting " + startedWord(ctx))
}

// startedWord returns Redis's word for background work that a command starts.
func startedWord(ctx context.Context) string {
	if InExec(ctx) {
		return "scheduled"
	}
	return "started"
}

// saveWithoutServer returns the replies to the saving commands on an engine without a server: every commit is in the
// file already, and the last save is now, in Unix ms.
func saveWithoutServer(ctx context.Context, c call, now int64) (v resp.Value, ok bool) {
	switch c.cmd.Name {
	case "SAVE":
		return resp.OK, true
	case "BGSAVE":
		return BackgroundSave(ctx, c.args), true
	case "BGREWRITEAOF":
		return BackgroundRewrite(ctx), true
	case "LASTSAVE":
		return resp.MakeInt(now / 1000), true
	}
	return resp.Value{}, false
}
