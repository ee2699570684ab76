package targets

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// Commands returns the target's commands: ours for a file, and for a server that does not list its own before ctx ends. It caches a
// server's list by version and number of commands.
func (c *Conn) Commands(ctx context.Context) *commands.Table {
	if !c.Target.IsServer() {
		return commands.Ours
	}
	identity, err := c.Pipeline(ctx, [][][]byte{call("INFO", "server"), call("COMMAND", "COUNT")})
	if err != nil || identity[1].Kind != resp.Int {
		return commands.Ours
	}
	file := ""
	if version := InfoFacts(identity[0])["redis_version"]; version != "" && !strings.ContainsAny(version, `/\`) {
		file = cachedCommands(fmt.Sprintf("%s-%d", version, identity[1].Int))
	}
	told, err := os.ReadFile(file)
	if table := tableOf(told); err == nil && table != nil {
		return table
	}
	replies, err := c.Pipeline(ctx, [][][]byte{call("COMMAND"), call("COMMAND", "DOCS")})
	if err != nil {
		return commands.Ours
	}
	told = resp.Append2(resp.Append2(nil, resp.Downgrade(replies[0])), resp.Downgrade(replies[1]))
	table := tableOf(told)
	if table == nil {
		return commands.Ours
	}
	if file != "" && os.MkdirAll(filepath.Dir(file), 0o700) == nil {
		os.WriteFile(file, told, 0o600) // on an error the server is asked again
	}
	return table
}

// tableOf parses the replies to COMMAND and COMMAND DOCS, in RESP2. It returns nil if they list no command.
func tableOf(told []byte) *commands.Table {
	r := resp.NewReader(bytes.NewReader(told))
	info, err := r.ReadReply()
	if err != nil {
		return nil
	}
	docs, err := r.ReadReply()
	if err != nil {
		return nil
	}
	if table := commands.Learn(info, docs); len(table.All()) > 0 {
		return table
	}
	return nil
}

// InfoFacts parses an INFO reply.
func InfoFacts(v resp.Value) map[string]string {
	facts := map[string]string{}
	for _, line := range strings.Split(string(v.Str), "\n") {
		if name, fact, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			facts[name] = fact
		}
	}
	return facts
}

func call(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}
