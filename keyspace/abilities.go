package keyspace

import (
	"context"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
)

// Ability says whether a server can do something for the client.
type Ability struct {
	Name    string `json:"name"`
	Has     bool   `json:"has"`
	Instead string `json:"instead,omitempty"` // the behaviour of meowdis without it, or why it is missing
}

// probe holds a call without effect. A server that refuses the call lacks the ability.
type probe struct {
	name, instead string
	call          []string
}

// No program has the key noKey.
const noKey = "meowdis:no such key"

var probes = []probe{
	{"SCAN", "KEYS, which blocks the server", []string{"SCAN", "0", "COUNT", "1"}},
	{"KEYS", "", []string{"KEYS", noKey}},
	{"INFO", "the version and memory are unknown, and databases are found by SELECT", []string{"INFO", "keyspace"}},
	{"DUMP", "values are read by their type", []string{"DUMP", noKey}},
	{"MEMORY USAGE", "sizes are estimated", []string{"MEMORY", "USAGE", noKey}},
	{"expiry of fields", "fields of hashes do not expire", []string{"HPTTL", noKey, "FIELDS", "1", "f"}},
	{"streams", "", []string{"XLEN", noKey}},
	{"scripts", "", []string{"SCRIPT", "EXISTS", "0"}},
	{"functions", "libraries are not moved", []string{"FUNCTION", "LIST", "LIBRARYNAME", noKey}},
	{"pub/sub", "", []string{"PUBSUB", "NUMSUB", noKey}},
	{"shard channels", "", []string{"PUBSUB", "SHARDNUMSUB", noKey}},
	{"JSON", "documents are not moved", []string{"JSON.TYPE", noKey}},
	{"search", "indexes are not moved", []string{"FT._LIST"}},
	{"time series", "", []string{"TS.INFO", noKey}},
	{"Bloom filters", "", []string{"BF.CARD", noKey}},
	{"vector sets", "", []string{"VCARD", noKey}},
	{"slow log", "", []string{"SLOWLOG", "LEN"}},
	{"client list", "", []string{"CLIENT", "LIST", "ID", "0"}},
	{"configuration", "", []string{"CONFIG", "GET", "maxmemory"}},
	{"ACL", "", []string{"ACL", "WHOAMI"}},
}

// Abilities lists the abilities of a server. It runs commands without effect, and changes the selected database for a moment.
func Abilities(ctx context.Context, s Session) ([]Ability, error) {
	calls := make([][][]byte, len(probes))
	for i, p := range probes {
		calls[i] = Call(p.call...)
	}
	replies, err := s.Pipeline(ctx, calls)
	if err != nil {
		return nil, err
	}
	all := make([]Ability, len(probes), len(probes)+2)
	for i, p := range probes {
		all[i] = ability(p.name, p.instead, replies[i])
	}
	several, err := databases(ctx, s)
	if err != nil {
		return nil, err
	}
	multi, err := s.Pipeline(ctx, [][][]byte{Call("MULTI"), Call("DISCARD")})
	if err != nil {
		return nil, err
	}
	return append(all, several, ability("MULTI", "large keys are written under a temporary name", multi[0])), nil
}

// ability reads the reply to a probe. Other errors than a refusal are about the probe's arguments.
func ability(name, instead string, v resp.Value) Ability {
	switch {
	case Forbidden(v):
		return Ability{name, false, "this user may not"}
	case Refused(v), v.IsError() && string(v.Str[:min(len(v.Str), 9)]) == "READONLY ":
		return Ability{name, false, instead}
	}
	return Ability{Name: name, Has: true}
}

// databases reports whether the server has a second database.
func databases(ctx context.Context, s Session) (Ability, error) {
	own := s.DB()
	other := 1
	if own == other {
		other = 0
	}
	v, err := s.Do(ctx, Call("SELECT", strconv.Itoa(other))...)
	if err != nil {
		return Ability{}, err
	}
	if v.IsError() {
		return Ability{"several databases", false, "all keys are in one"}, nil
	}
	v, err = s.Do(ctx, Call("SELECT", strconv.Itoa(own))...)
	if err == nil && v.IsError() {
		err = Refusal(v.Str)
	}
	return Ability{Name: "several databases", Has: true}, err
}
