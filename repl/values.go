package repl

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// listing describes a command whose reply lists the values of an argument.
type listing struct {
	what string // the noun for one value, in messages
	call []string
	read func(v resp.Value) []foundItem
	most int // how many values call requests, 0 for all
	// unsupported lists the values that a meowdis server rejects.
	unsupported []string
}

// listings maps "GROUP ARGUMENT" to the listing of its values.
var listings = map[string]*listing{
	"server parameter":               {what: "parameter", call: []string{"CONFIG", "GET", "*"}, read: parametersIn},
	"pubsub channel":                 {what: "channel", call: []string{"PUBSUB", "CHANNELS"}, read: textsIn},
	"pubsub pattern":                 {what: "channel", call: []string{"PUBSUB", "CHANNELS"}, read: textsIn},
	"pubsub shardchannel":            {what: "channel", call: []string{"PUBSUB", "SHARDCHANNELS"}, read: textsIn},
	"server username":                {what: "user", call: []string{"ACL", "USERS"}, read: textsIn},
	"connection username":            {what: "user", call: []string{"ACL", "USERS"}, read: textsIn},
	"server category":                {what: "category", call: []string{"ACL", "CAT"}, read: textsIn},
	"server rule":                    {what: "rule", call: []string{"ACL", "CAT"}, read: rulesIn},
	"scripting function":             {what: "function", call: []string{"FUNCTION", "LIST"}, read: functionsIn},
	"scripting library-name":         {what: "library", call: []string{"FUNCTION", "LIST"}, read: librariesIn},
	"scripting library-name-pattern": {what: "library", call: []string{"FUNCTION", "LIST"}, read: librariesIn},
	"connection client-id":           {what: "client", call: []string{"CLIENT", "LIST"}, read: clientsBy("id", "addr")},
	"connection ip:port":             {what: "client", call: []string{"CLIENT", "LIST"}, read: clientsBy("addr", "id")},
	"connection addr":                {what: "client", call: []string{"CLIENT", "LIST"}, read: clientsBy("addr", "id")},
	"connection old-format":          {what: "client", call: []string{"CLIENT", "LIST"}, read: clientsBy("addr", "id")}, // Redis's name of ip:port
	"connection laddr":               {what: "address", call: []string{"CLIENT", "LIST"}, read: clientsBy("laddr", "id")},
	"connection index":               {what: "database", call: []string{"INFO", "keyspace"}, read: databasesIn},
	"server index1":                  {what: "database", call: []string{"INFO", "keyspace"}, read: databasesIn},
	"server index2":                  {what: "database", call: []string{"INFO", "keyspace"}, read: databasesIn},
	"generic db":                     {what: "database", call: []string{"INFO", "keyspace"}, read: databasesIn},
	"generic destination-db":         {what: "database", call: []string{"INFO", "keyspace"}, read: databasesIn},
	"server event":                   {what: "event", call: []string{"LATENCY", "LATEST"}, read: eventsIn},
}

// listingOf returns the listing for one of the arguments that may come next; nil if none has
// one.
func listingOf(cmd *commands.Command, args []commands.Argument) *listing {
	for _, a := range args {
		if l := listings[cmd.Group+" "+a.Name]; l != nil {
			return l
		}
	}
	return nil
}

// textsIn reads the elements of a list.
func textsIn(v resp.Value) []foundItem {
	var items []foundItem
	for _, e := range v.Elems {
		items = append(items, foundItem{value: string(e.Str)})
	}
	return items
}

// parametersIn reads parameters and their values, without passwords.
func parametersIn(v resp.Value) []foundItem {
	var items []foundItem
	for i := 0; i+1 < len(v.Elems); i += 2 {
		item := foundItem{value: string(v.Elems[i].Str)}
		if !isSecretSetting(strings.ToUpper(item.value)) {
			item.about = preview(v.Elems[i+1].Str)
		}
		items = append(items, item)
	}
	return items
}

// parameterValues lists the values of enumerated parameters, for servers from 7.0 on.
var parameterValues = map[string][]string{
	"acl-pubsub-default":    {"allchannels", "resetchannels"},
	"appendfsync":           {"always", "everysec", "no"},
	"loglevel":              {"debug", "verbose", "notice", "warning"},
	"maxmemory-policy":      {"noeviction", "allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"},
	"sanitize-dump-payload": {"no", "yes", "clients"},
}

// unsupported lists the values of parameterValues that a meowdis server rejects.
var unsupported = map[string][]string{
	"maxmemory-policy":      {"allkeys-lru", "allkeys-lfu", "volatile-lru", "volatile-lfu", "volatile-random"},
	"sanitize-dump-payload": {"no", "clients"},
}

// immutable are enumerated parameters that cannot be set at run time.
var immutable = []string{
	"always-show-logo", "cluster-enabled", "daemonize", "disable-thp", "enable-debug-command", "enable-module-command",
	"enable-protected-configs", "io-threads-do-reads", "rdbchecksum", "set-proc-title", "supervised", "syslog-enabled",
}

// valuesOf returns the listing of a parameter's known values: the current one, and the other
// ones if the parameter is an enumeration.
func valuesOf(parameter string) *listing {
	parameter = strings.ToLower(parameter)
	read := func(v resp.Value) []foundItem {
		now := string(member(v, parameter).Str)
		if isSecretSetting(strings.ToUpper(parameter)) || slices.Contains(immutable, parameter) {
			return nil
		}
		items := []foundItem{{now, "as it is"}}
		if now == "" {
			items = nil
		}
		others := parameterValues[parameter]
		if others == nil && (now == "yes" || now == "no") {
			others = []string{"yes", "no"}
		}
		for _, value := range others {
			if value != now {
				items = append(items, foundItem{value: value})
			}
		}
		return items
	}
	return &listing{what: "value", call: []string{"CONFIG", "GET", parameter}, read: read, unsupported: unsupported[parameter]}
}

// rulesIn returns ACL rules: the fixed words, and the categories to allow and to forbid.
func rulesIn(v resp.Value) []foundItem {
	items := []foundItem{
		{"on", "the user may log in"}, {"off", "the user may not log in"}, {"nopass", "any password will do"},
		{"resetpass", "removes all passwords"}, {"allkeys", "every key"}, {"resetkeys", "no key"},
		{"allchannels", "every channel"}, {"resetchannels", "no channel"}, {"allcommands", "every command"},
		{"nocommands", "no command"}, {"clearselectors", "removes all selectors"}, {"reset", "a user as new"},
	}
	for _, sign := range []string{"+@", "-@"} {
		for _, e := range v.Elems {
			items = append(items, foundItem{value: sign + string(e.Str)})
		}
	}
	return items
}

// member returns the value of a name in a flat map; an empty value if it is missing.
func member(v resp.Value, name string) resp.Value {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if string(v.Elems[i].Str) == name {
			return v.Elems[i+1]
		}
	}
	return resp.Value{}
}

// databasesIn reads the databases that have keys from INFO keyspace: db0:keys=12,….
func databasesIn(v resp.Value) []foundItem {
	var items []foundItem
	for line := range strings.Lines(string(v.Str)) {
		if db, keys, ok := strings.Cut(strings.TrimSpace(line), ":keys="); ok {
			keys, _, _ = strings.Cut(keys, ",")
			items = append(items, foundItem{strings.TrimPrefix(db, "db"), keys + " keys"})
		}
	}
	return items
}

// idsOf returns the listing of IDs for a stream command: the last entries of the stream, or the entries pending in the
// group. It is nil for other commands.
func idsOf(command, stream, group string) *listing {
	l := &listing{what: "entry", most: 100}
	switch command {
	case "XDEL", "XDELEX":
		l.call = []string{"XREVRANGE", stream, "+", "-", "COUNT", "100"}
	case "XACK", "XACKDEL", "XCLAIM", "XNACK":
		l.call = []string{"XPENDING", stream, group, "-", "+", "100"}
	default:
		return nil
	}
	l.read = func(v resp.Value) []foundItem {
		var items []foundItem
		for _, e := range v.Elems {
			if len(e.Elems) < 2 {
				continue
			}
			about := []string{string(e.Elems[1].Str)} // the consumer, or nothing
			for _, part := range e.Elems[1].Elems {
				about = append(about, string(part.Str))
			}
			items = append(items, foundItem{string(e.Elems[0].Str), preview([]byte(strings.TrimSpace(strings.Join(about, " "))))})
		}
		return items
	}
	return l
}

func librariesIn(v resp.Value) []foundItem {
	var items []foundItem
	for _, library := range v.Elems {
		n := len(member(library, "functions").Elems)
		items = append(items, foundItem{string(member(library, "library_name").Str), strconv.Itoa(n) + " functions"})
	}
	return items
}

func functionsIn(v resp.Value) []foundItem {
	var items []foundItem
	for _, library := range v.Elems {
		for _, f := range member(library, "functions").Elems {
			about := string(member(f, "description").Str)
			if about == "" {
				about = "of " + string(member(library, "library_name").Str)
			}
			items = append(items, foundItem{string(member(f, "name").Str), preview([]byte(about))})
		}
	}
	return items
}

func eventsIn(v resp.Value) []foundItem {
	var items []foundItem
	for _, e := range v.Elems {
		if len(e.Elems) > 0 {
			items = append(items, foundItem{value: string(e.Elems[0].Str)})
		}
	}
	return items
}

// clientsBy returns a reader of CLIENT LIST. Clients are named by field; other, the name and
// the last command are the note.
func clientsBy(field, other string) func(v resp.Value) []foundItem {
	return func(v resp.Value) []foundItem {
		var items []foundItem
		for line := range strings.Lines(string(v.Str)) {
			fields := map[string]string{}
			for _, f := range strings.Fields(line) {
				name, value, _ := strings.Cut(f, "=")
				fields[name] = value
			}
			about := strings.Join(strings.Fields(fields[other]+" "+fields["name"]+" "+fields["cmd"]), " ")
			items = append(items, foundItem{fields[field], preview([]byte(about))})
		}
		return items
	}
}

// listedItems returns the values of a listing that begin with the prefix.
func (a *asker) listedItems(ctx context.Context, q question) []foundItem {
	items := q.list.read(a.do(ctx, q.list.call...))
	a.partial = q.list.most > 0 && len(items) >= q.list.most
	if q.list.unsupported != nil && strings.Contains(string(a.do(ctx, "INFO", "server").Str), "\nmeowdis:") {
		items = slices.DeleteFunc(items, func(f foundItem) bool { return slices.Contains(q.list.unsupported, f.value) })
	}
	items = slices.DeleteFunc(items, func(f foundItem) bool { return f.value == "" || !strings.HasPrefix(f.value, q.prefix) })
	smallsort.Sort(items, func(a, b foundItem) int { return strings.Compare(a.value, b.value) })
	return slices.CompactFunc(items, func(a, b foundItem) bool { return a.value == b.value })
}

// maxStreams limits the streams whose groups are offered before a stream is named.
const maxStreams = 20

// groupItems returns the groups of a stream, or the consumers of a group. If no stream is
// named yet, as in XREADGROUP, it returns the groups of the first streams.
func (a *asker) groupItems(ctx context.Context, q question) []foundItem {
	streams := []string{q.key}
	if q.key == "" {
		streams = nil
		for _, f := range a.scan(ctx, question{}, []string{"SCAN"}, 1, "TYPE", "stream") {
			streams = append(streams, f.value)
		}
		streams = streams[:min(len(streams), maxStreams)]
	}
	var items []foundItem
	for _, stream := range streams {
		words := []string{"XINFO", "GROUPS", stream}
		if q.about == askConsumers {
			words = []string{"XINFO", "CONSUMERS", stream, q.group}
		}
		for _, f := range namedItems(a.do(ctx, words...), q.prefix) {
			if q.key == "" {
				f.about = strings.TrimPrefix(f.about+" of "+preview([]byte(stream)), " ")
			}
			if !slices.ContainsFunc(items, func(g foundItem) bool { return g.value == f.value }) {
				items = append(items, f)
			}
		}
	}
	return items
}

// pathsIn returns the paths of the members of the object at the prefix, with their types.
func (a *asker) pathsIn(ctx context.Context, q question) []foundItem {
	parent := "$"
	if i := strings.LastIndexAny(q.prefix, ".["); i > 0 {
		parent = q.prefix[:i]
	}
	keys := a.do(ctx, "JSON.OBJKEYS", q.key, parent)
	types := a.do(ctx, "JSON.TYPE", q.key, parent+".*")
	var items []foundItem
	if parent == "$" {
		items = append(items, foundItem{value: "$"})
	}
	if len(keys.Elems) == 1 {
		for i, e := range keys.Elems[0].Elems {
			item := foundItem{value: parent + "." + string(e.Str)}
			if !isName(string(e.Str)) {
				item.value = parent + "[" + strconv.Quote(string(e.Str)) + "]"
			}
			if len(types.Elems) == len(keys.Elems[0].Elems) {
				item.about = string(types.Elems[i].Str)
			}
			items = append(items, item)
		}
	}
	return slices.DeleteFunc(items, func(f foundItem) bool { return !strings.HasPrefix(f.value, q.prefix) })
}

// isName reports whether an object member can follow a dot in a path.
func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// notFoundText says why nothing was found.
func (q question) notFoundText(a *asker) string {
	what := map[topic]string{askKeys: "key", askElements: "element", askGroups: "group", askConsumers: "consumer", askPaths: "path", askIndexes: "index", askFields: "field", askQuery: "field or operator"}[q.about]
	if q.list != nil {
		what = q.list.what
	}
	if q.about == askKeys && q.kind != "" {
		what = display.Type(q.kind) + " " + what
	}
	if q.search != nil && q.search.end.about == endTag {
		what = "tag of " + q.search.end.field
	}
	if q.key != "" {
		what += " of " + quoteWord([]byte(q.key), false)
	}
	switch {
	case a.why != "":
		return a.why
	case q.prefix == "" && a.partial:
		return "no " + what + " was found in time; more may exist"
	case q.prefix == "":
		return "no " + what + " was found"
	case a.partial:
		return "no " + what + " that begins with " + quoteWord([]byte(q.prefix), false) + " was found in time; more may exist"
	}
	return "no " + what + " begins with " + quoteWord([]byte(q.prefix), false)
}
