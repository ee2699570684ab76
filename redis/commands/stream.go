package commands

const (
	streamTrimSyntax = "<MAXLEN|MINID> [=|~] threshold [LIMIT count]"
	streamRefsSyntax = "[KEEPREF|DELREF|ACKED]"
	streamIDsSyntax  = "IDS numids id [id ...]"
	streamMostSyntax = "[COUNT count] [MAXCOUNT maxcount] [MAXSIZE maxsize] [BLOCK milliseconds] "
	streamKeysSyntax = "STREAMS key [key ...] id [id ...]"
)

var streamCommands = []Command{
	{
		Name: "XADD", Group: "stream", Since: "5.0.0", Arity: -5, Flags: Write | DenyOOM | Fast,
		Summary: "Appends an entry and returns its ID; creates the stream if missing",
		Syntax:  "key [NOMKSTREAM] " + streamRefsSyntax + " [IDMPAUTO pid|IDMP pid iid] [" + streamTrimSyntax + "] <*|id> field value [field value ...]",
		Keys:    []KeySpec{oneKey(RW, 1)},
		Tips:    []string{"nondeterministic_output"},
	},
	{
		Name: "XTRIM", Group: "stream", Since: "5.0.0", Arity: -4, Flags: Write,
		Summary: "Deletes the oldest entries beyond a length or below an ID",
		Syntax:  "key " + streamTrimSyntax + " " + streamRefsSyntax, Keys: []KeySpec{oneKey(RW|Deletes, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "XDEL", Group: "stream", Since: "5.0.0", Arity: -3, Flags: Write | Fast,
		Summary: "Deletes entries and returns the number of deleted entries",
		Syntax:  "key id [id ...]", Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "XDELEX", Group: "stream", Since: "8.2.0", Arity: -5, Flags: Write | Fast,
		Summary: "Deletes entries, with a choice for the groups' references to them",
		Syntax:  "key " + streamRefsSyntax + " " + streamIDsSyntax, Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "XACKDEL", Group: "stream", Since: "8.2.0", Arity: -6, Flags: Write | Fast,
		Summary: "Acknowledges entries in a group and deletes them",
		Syntax:  "key group " + streamRefsSyntax + " " + streamIDsSyntax, Keys: []KeySpec{oneKey(RW|Deletes, 1)},
	},
	{
		Name: "XCFGSET", Group: "stream", Since: "8.6.0", Arity: -2, Flags: Write | Fast,
		Summary: "Sets how long a stream remembers producers' IDs, and how many",
		Syntax:  "key [IDMP-DURATION idmp-duration] [IDMP-MAXSIZE idmp-maxsize]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "XLEN", Group: "stream", Since: "5.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the number of entries",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
	},
	{
		Name: "XRANGE", Group: "stream", Since: "5.0.0", Arity: -4, Flags: ReadOnly,
		Replies: entries,
		Summary: "Returns the entries between two IDs",
		Syntax:  "key start end [COUNT count]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "XREVRANGE", Group: "stream", Since: "5.0.0", Arity: -4, Flags: ReadOnly,
		Replies: entries,
		Summary: "Returns the entries between two IDs, newest first",
		Syntax:  "key end start [COUNT count]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "XREAD", Group: "stream", Since: "5.0.0", Arity: -4, Flags: ReadOnly | Blocking | MovableKeys,
		Replies: byStream,
		Summary: "Returns the entries of streams after given IDs",
		Syntax:  streamMostSyntax + streamKeysSyntax,
		Keys:    []KeySpec{{Access: RO | Returns | Incomplete, Keyword: "STREAMS", Index: 1, Last: -1, Step: 1, Limit: 2}}, FindKeys: streamKeys,
	},
	{
		Name: "XREADGROUP", Group: "stream", Since: "5.0.0", Arity: -7, Flags: Write | Blocking | MovableKeys,
		Replies: byStream,
		Summary: "Returns new or pending entries of streams to a consumer of a group",
		Syntax:  "GROUP group consumer " + streamMostSyntax + "[CLAIM min-idle-time] [NOACK] " + streamKeysSyntax,
		Keys:    []KeySpec{{Access: RO | Returns | Incomplete, Keyword: "STREAMS", Index: 4, Last: -1, Step: 1, Limit: 2}}, FindKeys: streamKeys,
	},
	{
		Name: "XSETID", Group: "stream", Since: "5.0.0", Arity: -3, Flags: Write | DenyOOM | Fast,
		Traits:  AnswersOK,
		Summary: "Sets the last ID of a stream, and its counters",
		Syntax:  "key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "XACK", Group: "stream", Since: "5.0.0", Arity: -4, Flags: Write | Fast,
		Summary: "Acknowledges entries and returns the number that were pending",
		Syntax:  "key group id [id ...]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "XNACK", Group: "stream", Since: "8.8.0", Arity: -7, Flags: Write | Fast,
		Summary: "Returns pending entries to the group, for other consumers to claim",
		Syntax:  "key group <SILENT|FAIL|FATAL> " + streamIDsSyntax + " [RETRYCOUNT count] [FORCE]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "XPENDING", Group: "stream", Since: "5.0.0", Arity: -3, Flags: ReadOnly,
		Replies: []Reply{{Records: Rows, Columns: []string{"id", "consumer", "idle", "deliveries"}}},
		Summary: "Returns the pending entries of a group: a summary, or a range",
		Syntax:  "key group [[IDLE min-idle-time] start end count [consumer]]",
		Keys:    []KeySpec{oneKey(RO, 1)},
		Tips:    []string{"nondeterministic_output"},
	},
	{
		Name: "XCLAIM", Group: "stream", Since: "5.0.0", Arity: -6, Flags: Write | Fast,
		Replies: []Reply{{With: "JUSTID", From: 6, Records: NoRecords}, {Records: Entries}},
		Summary: "Makes a consumer the owner of pending entries",
		Syntax: "key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] " +
			"[RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid]",
		Keys: []KeySpec{oneKey(RW, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "XAUTOCLAIM", Group: "stream", Since: "6.2.0", Arity: -6, Flags: Write | Fast,
		Replies: []Reply{{With: "JUSTID", From: 6, Records: NoRecords}, {Records: EntriesPage}},
		Summary: "Makes a consumer the owner of entries that have been pending for long",
		Syntax:  "key group consumer min-idle-time start [COUNT count] [JUSTID]",
		Keys:    []KeySpec{oneKey(RW|Deletes, 1)},
		Tips:    []string{"nondeterministic_output"},
	},
	{
		Name: "XGROUP", Group: "stream", Since: "5.0.0", Arity: -2,
		Summary: "Manages consumer groups",
	},
	{
		Name: "XGROUP CREATE", Group: "stream", Since: "5.0.0", Arity: -5, Flags: Write | DenyOOM,
		Traits:  AnswersOK,
		Summary: "Creates a consumer group",
		Syntax:  "key group <id|$> [MKSTREAM] [ENTRIESREAD entries-read]", Keys: []KeySpec{oneKey(RW|Inserts, 2)},
	},
	{
		Name: "XGROUP SETID", Group: "stream", Since: "5.0.0", Arity: -5, Flags: Write,
		Traits:  AnswersOK,
		Summary: "Sets the last delivered ID of a group",
		Syntax:  "key group <id|$> [ENTRIESREAD entries-read]", Keys: []KeySpec{oneKey(RW, 2)},
	},
	{
		Name: "XGROUP DESTROY", Group: "stream", Since: "5.0.0", Arity: 4, Flags: Write,
		Summary: "Deletes a group with its consumers",
		Syntax:  "key group", Keys: []KeySpec{oneKey(RW|Deletes, 2)},
	},
	{
		Name: "XGROUP CREATECONSUMER", Group: "stream", Since: "6.2.0", Arity: 5, Flags: Write | DenyOOM,
		Summary: "Creates a consumer and returns 1 if it is new",
		Syntax:  "key group consumer", Keys: []KeySpec{oneKey(RW|Inserts, 2)},
	},
	{
		Name: "XGROUP DELCONSUMER", Group: "stream", Since: "5.0.0", Arity: 5, Flags: Write,
		Summary: "Deletes a consumer and returns the number of its pending entries",
		Syntax:  "key group consumer", Keys: []KeySpec{oneKey(RW|Deletes, 2)},
	},
	{
		Name: "XGROUP HELP", Group: "stream", Since: "5.0.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands",
	},
	{
		Name: "XINFO", Group: "stream", Since: "5.0.0", Arity: -2,
		Summary: "Describes streams, groups and consumers",
	},
	{
		Name: "XINFO STREAM", Group: "stream", Since: "5.0.0", Arity: -3, Flags: ReadOnly,
		Replies: streamInfo,
		Summary: "Describes a stream, in full with entries, groups and consumers",
		Syntax:  "key [FULL [COUNT count]]", Keys: []KeySpec{oneKey(RO, 2)},
	},
	{
		Name: "XINFO GROUPS", Group: "stream", Since: "5.0.0", Arity: 3, Flags: ReadOnly,
		Replies: someMaps,
		Summary: "Describes the consumer groups of a stream",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 2)},
	},
	{
		Name: "XINFO CONSUMERS", Group: "stream", Since: "5.0.0", Arity: 4, Flags: ReadOnly,
		Replies: someMaps,
		Summary: "Describes the consumers of a group",
		Syntax:  "key group", Keys: []KeySpec{oneKey(RO, 2)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "XINFO HELP", Group: "stream", Since: "5.0.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands",
	},
}

// streamKeys finds the keys of XREAD or XREADGROUP: the first half of the words after STREAMS,
// if their number is even. It ignores other errors, and a key may be named STREAMS.
func streamKeys(args [][]byte) []KeyRef {
	for i := 1; i < len(args); i++ {
		switch {
		case Is(args[i], "STREAMS"):
			words := len(args) - i - 1
			if words%2 != 0 {
				return nil
			}
			refs := make([]KeyRef, words/2)
			for j := range refs {
				refs[j] = KeyRef{Pos: i + 1 + j, Access: RO}
			}
			return refs
		case Is(args[i], "BLOCK"), Is(args[i], "COUNT"), Is(args[i], "CLAIM"):
			i++
		case Is(args[i], "GROUP"):
			i += 2
		case !Is(args[i], "NOACK"):
			return nil
		}
	}
	return nil
}
