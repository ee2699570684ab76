package translator

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

var roleTranslations = translations{
	{"ROLE", role},
}

// role translates ROLE, from the facts of INFO.
func role(c *Call) Plan {
	facts := c.replicaFacts()
	if facts == nil {
		return answer(resp.MakeArray(resp.MakeString("master"), resp.Zero, resp.EmptyArray))
	}
	state := "connect"
	switch {
	case facts["master_link_status"] == "up":
		state = "connected"
	case facts["master_sync_in_progress"] == "1":
		state = "sync"
	}
	number := func(name string) resp.Value {
		n, _ := strconv.ParseInt(facts[name], 10, 64)
		return resp.MakeInt(n)
	}
	return answer(resp.MakeArray(resp.MakeString("slave"), resp.MakeString(facts["master_host"]), number("master_port"),
		resp.MakeString(state), number("slave_repl_offset")))
}

// replicaFacts returns INFO's fields about replication if the server is a replica, otherwise nil.
func (c *Call) replicaFacts() map[string]string {
	if c.Env.Facts == nil {
		return nil
	}
	lines, _ := c.Env.Facts("Replication")
	facts := map[string]string{}
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ":")
		facts[name] = value
	}
	if facts["role"] != "slave" {
		return nil
	}
	return facts
}
