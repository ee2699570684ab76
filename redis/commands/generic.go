package commands

var genericCommands = []Command{
	{
		Name: "DEL", Group: "generic", Since: "1.0.0", Arity: -2, Flags: Write,
		Summary: "Deletes keys and returns the number of deleted keys",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RM, 1, -1, 1)},
		Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
	{
		Name: "UNLINK", Group: "generic", Since: "4.0.0", Arity: -2, Flags: Write | Fast,
		Summary: "Deletes keys as DEL does",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RM, 1, -1, 1)},
		Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
	{
		Name: "EXISTS", Group: "generic", Since: "1.0.0", Arity: -2, Flags: ReadOnly | Fast,
		Summary: "Counts the keys that exist; a repeated key counts each time",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RO|Metadata, 1, -1, 1)},
		Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
	{
		Name: "TOUCH", Group: "generic", Since: "3.2.1", Arity: -2, Flags: ReadOnly | Fast,
		Summary: "Counts the keys that exist, as EXISTS does; the time of access is not kept",
		Syntax:  "key [key ...]", Keys: []KeySpec{keysFrom(RO|Metadata, 1, -1, 1)},
		Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"},
	},
	{
		Name: "TYPE", Group: "generic", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the type of the value at a key, or none",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 1)},
	},
	{
		Name: "KEYS", Group: "generic", Since: "1.0.0", Arity: 2, Flags: ReadOnly,
		Replies: keyNames,
		Summary: "Returns all keys that match a glob pattern",
		Syntax:  "pattern", Categories: []string{"keyspace", "dangerous"},
		Tips: []string{"request_policy:all_shards", "nondeterministic_output_order"},
	},
	{
		Name: "SCAN", Group: "generic", Since: "2.8.0", Arity: -2, Flags: ReadOnly,
		Replies: page("key"),
		Summary: "Returns the keys page by page: the cursor of the next one, 0 at the end, and the keys",
		Syntax:  "cursor [MATCH pattern] [COUNT count] [TYPE type] [WITHTYPE]",
		Tips:    []string{"nondeterministic_output", "request_policy:special", "response_policy:special"},
	},
	{
		Name: "RANDOMKEY", Group: "generic", Since: "1.0.0", Arity: 1, Flags: ReadOnly,
		Summary: "Returns a random key, or nil if the database is empty",
		Tips:    []string{"request_policy:all_shards", "response_policy:special", "nondeterministic_output"},
	},
	{
		Name: "RENAME", Group: "generic", Since: "1.0.0", Arity: 3, Flags: Write,
		Traits:  AnswersOK,
		Summary: "Renames a key, and replaces a key that has the new name",
		Syntax:  "key newkey",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(OW, 2)},
	},
	{
		Name: "RENAMENX", Group: "generic", Since: "1.0.0", Arity: 3, Flags: Write | Fast,
		Summary: "Renames a key unless the new name exists",
		Syntax:  "key newkey",
		Keys:    []KeySpec{oneKey(RW|Returns|Deletes, 1), oneKey(OW|Inserts, 2)},
	},
	{
		Name: "MOVE", Group: "generic", Since: "1.0.0", Arity: 3, Flags: Write | Fast,
		Summary: "Moves a key to another database unless the key exists there",
		Syntax:  "key db", Keys: []KeySpec{oneKey(RW|Returns|Updates, 1)},
	},
	{
		Name: "COPY", Group: "generic", Since: "6.2.0", Arity: -3, Flags: Write | DenyOOM,
		Summary: "Copies the value and the time to live of a key to another",
		Syntax:  "source destination [DB destination-db] [REPLACE]",
		Keys:    []KeySpec{oneKey(RO, 1), oneKey(OW, 2)},
	},
	{
		Name: "EXPIRE", Group: "generic", Since: "1.0.0", Arity: -3, Flags: Write | Fast,
		Summary: "Makes a key expire after some seconds",
		Syntax:  "key seconds [NX|XX|GT|LT]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "PEXPIRE", Group: "generic", Since: "2.6.0", Arity: -3, Flags: Write | Fast,
		Summary: "Makes a key expire after some milliseconds",
		Syntax:  "key milliseconds [NX|XX|GT|LT]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "EXPIREAT", Group: "generic", Since: "1.2.0", Arity: -3, Flags: Write | Fast,
		Summary: "Makes a key expire at a Unix time",
		Syntax:  "key unix-time-seconds [NX|XX|GT|LT]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "PEXPIREAT", Group: "generic", Since: "2.6.0", Arity: -3, Flags: Write | Fast,
		Summary: "Makes a key expire at a Unix time in milliseconds",
		Syntax:  "key unix-time-milliseconds [NX|XX|GT|LT]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "TTL", Group: "generic", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the time to live of a key in seconds, -1 without expiry, -2 if the key is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "PTTL", Group: "generic", Since: "2.6.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the time to live of a key in milliseconds, -1 without expiry, -2 if the key is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "EXPIRETIME", Group: "generic", Since: "7.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the Unix time when a key expires, -1 without expiry, -2 if the key is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "PEXPIRETIME", Group: "generic", Since: "7.0.0", Arity: 2, Flags: ReadOnly | Fast,
		Summary: "Returns the Unix time in milliseconds when a key expires, -1 without expiry, -2 if the key is missing",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "PERSIST", Group: "generic", Since: "2.2.0", Arity: 2, Flags: Write | Fast,
		Summary: "Removes the expiry of a key",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "WAIT", Group: "generic", Since: "3.0.0", Arity: 3, Flags: Blocking,
		Summary: "Waits until replicas have acknowledged the writes so far, and counts them",
		Syntax:  "numreplicas timeout", Categories: []string{"connection"},
		Tips: []string{"request_policy:all_shards", "response_policy:agg_min"},
	},
	{
		Name: "WAITAOF", Group: "generic", Since: "7.2.0", Arity: 4, Flags: Blocking,
		Summary: "Waits until replicas have the writes so far on their disks, and counts them",
		Syntax:  "numlocal numreplicas timeout", Categories: []string{"connection"},
		Tips: []string{"request_policy:all_shards", "response_policy:agg_min"},
	},
	{
		Name: "OBJECT", Group: "generic", Since: "2.2.3", Arity: -2,
		Summary: "Describes the internal representation of a value in Redis",
	},
	{
		Name: "OBJECT ENCODING", Group: "generic", Since: "2.2.3", Arity: 3, Flags: ReadOnly,
		Summary: "Returns the encoding that Redis would choose for the value at a key",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 2)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "OBJECT FREQ", Group: "generic", Since: "4.0.0", Arity: 3, Flags: ReadOnly,
		Summary: "Replies with the error of a server that does not count accesses",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 2)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "OBJECT IDLETIME", Group: "generic", Since: "2.2.3", Arity: 3, Flags: ReadOnly,
		Summary: "Returns the seconds since a key was last written",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 2)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "OBJECT REFCOUNT", Group: "generic", Since: "2.2.3", Arity: 3, Flags: ReadOnly,
		Summary: "Returns the number of references that Redis would hold to the value at a key",
		Syntax:  "key", Keys: []KeySpec{oneKey(RO|Metadata, 2)},
		Tips: []string{"nondeterministic_output"},
	},
	{
		Name: "OBJECT HELP", Group: "generic", Since: "6.2.0", Arity: 2, Flags: Loading | Stale,
		Summary: "Lists the subcommands of OBJECT",
	},
}
