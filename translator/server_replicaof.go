package translator

import (
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
)

var replicationTranslations = translations{
	{"FAILOVER", failover},
	{"MODULE LOAD", noModules},
	{"MODULE LOADEX", noModules},
	{"MODULE UNLOAD", noModules},
	{"REPLICAOF", replicaOf},
	{"SLAVEOF", replicaOf},
}

func noModules(*Call) Plan {
	return fail(`ERR MODULE command not allowed. If the enable-module-command option is set to "local", you can run it from a local connection, ` +
		`otherwise you need to set this option in the configuration file, and then restart the server.`)
}

// replicaOf translates REPLICAOF. The server is not a replica and cannot become one, or it is a copy kept with serve
// --follow, which is not Redis's replication.
func replicaOf(c *Call) Plan {
	if c.replicationFacts()["role"] == "slave" {
		return fail("ERR this server follows another one: restart it without serve --follow to write to it")
	}
	if c.is(1, "NO") && c.is(2, "ONE") {
		return answer(resp.OK)
	}
	if port, err := strconv.Atoi(string(c.Args[2])); err != nil || port < 0 || port > 65535 {
		return fail("ERR Invalid master port")
	}
	return fail("ERR this server cannot become a replica: only NO ONE is supported")
}

func failover(c *Call) Plan {
	if len(c.Args) == 2 && c.is(1, "ABORT") {
		return fail("ERR No failover in progress.")
	}
	for i := 1; i < len(c.Args); i++ {
		switch {
		case c.is(i, "TO") && i+2 < len(c.Args):
			i += 2
		case c.is(i, "TIMEOUT") && i+1 < len(c.Args):
			i++
		case c.is(i, "FORCE") || c.is(i, "ABORT"):
		default:
			return fail(errSyntax)
		}
	}
	if c.replicationFacts()["role"] == "slave" {
		return fail("ERR FAILOVER is not valid when server is a replica.")
	}
	return fail("ERR FAILOVER requires connected replicas.")
}
