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
	facts := c.replicationFacts()
	number := func(name string) resp.Value {
		n, _ := strconv.ParseInt(facts[name], 10, 64)
		return resp.MakeInt(n)
	}
	if facts["role"] != "slave" {
		return answer(resp.MakeArray(resp.MakeString("master"), number("master_repl_offset"), connectedReplicas(facts)))
	}
	state := "connect"
	switch {
	case facts["master_link_status"] == "up":
		state = "connected"
	case facts["master_sync_in_progress"] == "1":
		state = "sync"
	}
	return answer(resp.MakeArray(resp.MakeString("slave"), resp.MakeString(facts["master_host"]), number("master_port"),
		resp.MakeString(state), number("slave_repl_offset")))
}

// connectedReplicas returns the replicas that are online, from the lines slave0:ip=…,port=…,state=online,offset=….
func connectedReplicas(facts map[string]string) resp.Value {
	all := resp.EmptyArray
	for i := 0; ; i++ {
		line, is := facts["slave"+strconv.Itoa(i)]
		if !is {
			return all
		}
		values := map[string]string{}
		for _, pair := range strings.Split(line, ",") {
			name, value, _ := strings.Cut(pair, "=")
			values[name] = value
		}
		if values["state"] == "online" {
			all.Elems = append(all.Elems, resp.MakeArray(resp.MakeString(values["ip"]), resp.MakeString(values["port"]), resp.MakeString(values["offset"])))
		}
	}
}

// replicationFacts returns INFO's fields about replication.
func (c *Call) replicationFacts() map[string]string {
	facts := map[string]string{}
	if c.Env.Server.Facts == nil {
		return facts
	}
	lines, _ := c.Env.Server.Facts("Replication")
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ":")
		facts[name] = value
	}
	return facts
}
