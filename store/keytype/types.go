package keytype

import "github.com/meowdis/meowdis/store/schema"

// Names of the types, as TYPE returns them.
const (
	String    = "string"
	Hash      = "hash"
	List      = "list"
	Set       = "set"
	ZSet      = "zset"
	Stream    = "stream"
	Array     = "array"
	VectorSet = "vectorset"
	JSON      = "ReJSON-RL"
	Bloom     = "MBbloom--"
	Cuckoo    = "MBbloomCF"
	CountMin  = "CMSk-TYPE"
	TopK      = "TopK-TYPE"
	TDigest   = "TDIS-TYPE"
	Series    = "TSDB-TYPE"

	Suggestions = "trietype0"
)

// LastSlot is the greatest index of an array.
const LastSlot = "18446744073709551614"

// SQL for the bytes in the tables of two types, for a row of keys.
const (
	documentBytes = `(SELECT length(value) FROM documents WHERE key_id = keys.id)`
	vectorBytes   = `count * ifnull((SELECT size FROM vector_sets WHERE key_id = keys.id), 0)`
)

// Types lists all types, in the order for display.
var Types = []*Type{
	{
		Name: String, Brief: "str", Number: 1, Groups: []string{"string", "bitmap", "hyperloglog"},
		Nouns:    Nouns{One: "byte", Many: "bytes", Inputs: []string{"value"}},
		Commands: Commands{Count: "STRLEN", Read: "GET key", Page: "GETRANGE key from to", Pages: ByPlace, Form: Whole, Add: "SET key value"},
		Storage: Storage{Tables: []Table{
			{Name: "string_parts", Role: Value, Columns: []string{"key_id", "part", "value"}, Key: []string{"part"}, Long: []string{"value"}, Order: "part"},
		}, Size: schema.StringLength, Weight: schema.StringLength, InKey: true, Memory: `10 + ` + schema.StringLength},
	},
	{
		Name: Hash, Number: 5, Groups: []string{"hash"},
		Nouns:    Nouns{One: "field", Many: "fields", Parts: []string{"field", "value"}, Inputs: []string{"field", "value"}},
		Commands: Commands{Count: "HLEN", Read: "HGETALL key", Page: "HSCAN key cursor COUNT n", Pages: ByCursor, Scan: "HSCAN", Add: "HSET key field value", Drop: "HDEL key name", Get: "HGET key name", Put: "HSET key name text"},
		Storage: Storage{Tables: []Table{{
			Name: "hashes", Columns: []string{"key_id", "hash", "field", "value", "seq", "expires_at"}, Key: []string{"hash", "field"}, Long: []string{"field", "value"},
			Bytes: `length(field) + length(value)`, Memory: `24 + length(field) + length(value)`, Expires: "expires_at",
		}}, Size: `iif(volatile = 0, count, (SELECT count(*) FROM hashes WHERE key_id = keys.id AND (hashes.expires_at IS NULL OR hashes.expires_at > ` + nowMark + `)))`},
	},
	{
		Name: List, Number: 2, Groups: []string{"list"},
		Nouns:    Nouns{One: "element", Many: "elements", Parts: []string{"value"}, Inputs: []string{"value"}},
		Commands: Commands{Count: "LLEN", Read: "LRANGE key 0 -1", Page: "LRANGE key from to", Pages: ByPlace, Add: "RPUSH key value", Get: "LINDEX key name", Put: "LSET key name text"},
		Storage: Storage{Tables: []Table{{
			Name: "lists", Columns: []string{"key_id", "pos", "value"}, Key: []string{"pos"}, Long: []string{"value"}, Order: "pos",
			Bytes: `length(value)`, Memory: `16 + length(value)`,
		}}},
	},
	{
		Name: Set, Number: 3, Groups: []string{"set"},
		Nouns:    Nouns{One: "member", Many: "members", Parts: []string{"member"}, Inputs: []string{"member"}},
		Commands: Commands{Count: "SCARD", Read: "SMEMBERS key", Page: "SSCAN key cursor COUNT n", Pages: ByCursor, Scan: "SSCAN", Add: "SADD key member", Drop: "SREM key name"},
		Storage: Storage{Tables: []Table{{
			Name: "sets", Columns: []string{"key_id", "hash", "member", "seq"}, Key: []string{"hash", "member"}, Long: []string{"member"},
			Bytes: `length(member)`, Memory: `22 + length(member)`,
		}}},
	},
	{
		Name: ZSet, Number: 4, Groups: []string{"sorted-set", "geo"},
		Nouns:    Nouns{One: "member", Many: "members", Parts: []string{"member", "score"}, Inputs: []string{"score", "member"}},
		Commands: Commands{Count: "ZCARD", Read: "ZRANGE key 0 -1 WITHSCORES", Page: "ZRANGE key from to WITHSCORES", Pages: ByPlace, Scan: "ZSCAN", Add: "ZADD key score member", Drop: "ZREM key name", Put: "ZADD key XX text name"},
		Storage: Storage{Tables: []Table{{
			Name: "zsets", Columns: []string{"key_id", "hash", "member", "score"}, Key: []string{"hash", "member"}, Long: []string{"member"}, Order: "score, member",
			Bytes: `length(member) + 8`, Memory: `50 + 2 * length(member)`,
		}}},
	},
	{
		Name: Stream, Brief: "strm", Number: 6, Groups: []string{"stream"},
		Nouns:    Nouns{One: "entry", Many: "entries", Parts: []string{"id", "fields"}, Inputs: []string{"field", "value"}},
		Commands: Commands{Count: "XLEN", Read: "XRANGE key - +", Page: "XRANGE key after + COUNT n", Pages: ByName, Form: Entries, Add: "XADD key * field value", Drop: "XDEL key name"},
		Storage: Storage{Tables: []Table{
			{Name: "streams", Role: OneValue, Columns: []string{"key_id", "last_id", "deleted_id", "added"}},
			{
				Name: "stream_entries", Columns: []string{"key_id", "id", "fields"}, Key: []string{"id"}, Long: []string{"fields"}, Order: "id",
				Bytes: `length(id) + length(fields)`, Memory: `30 + length(fields)`,
			},
			{Name: "stream_groups", Role: Value, Columns: []string{"key_id", "name", "last_id", "entries_read"}, Key: []string{"name"}},
			{Name: "stream_consumers", Role: Rest, Columns: []string{"key_id", "group_name", "name", "seen_at", "active_at"}, Key: []string{"group_name", "name"}},
			{Name: "stream_pending", Role: Rest, Columns: []string{"key_id", "group_name", "id", "consumer", "delivered_at", "deliveries"}, Key: []string{"group_name", "id"}},
			{Name: "stream_nodes", Role: Rest, Columns: []string{"key_id", "first_id", "last_id", "count", "deleted", "bytes", "names"}, Key: []string{"first_id"}, Long: []string{"names"}, Order: "first_id"},
			{Name: "stream_idmp", Role: One, Columns: []string{"key_id", "duration", "maxsize", "added", "duplicates"}},
			{Name: "stream_iids", Role: Rest, Columns: []string{"key_id", "producer", "iid", "id", "added_at"}, Key: []string{"producer", "iid"}, Long: []string{"producer", "iid"}},
		}, Memory: `50 + 80 * (SELECT count(*) FROM stream_pending WHERE key_id = keys.id)`},
	},
	{
		Name: Array, Brief: "arr", Number: 8, Groups: []string{"array"},
		Nouns:    Nouns{One: "value", Many: "values", Parts: []string{"index", "value"}, Inputs: []string{"value"}},
		Commands: Commands{Count: "ARCOUNT", Read: "ARSCAN key 0 " + LastSlot, Page: "ARSCAN key cursor " + LastSlot + " LIMIT n", Pages: ByIndex, Add: "ARINSERT key value", Drop: "ARDEL key name", Get: "ARGET key name", Put: "ARSET key name text"}, NoDump: true,
		Storage: Storage{Tables: []Table{
			{
				Name: "arrays", Columns: []string{"key_id", "pos", "value"}, Key: []string{"pos"}, Long: []string{"value"}, Order: "pos",
				Bytes: `length(value) + 8`, Memory: `16 + length(value)`,
			},
			{Name: "array_cursors", Role: One, Columns: []string{"key_id", "next"}},
		}},
	},
	{
		Name: VectorSet, Brief: "vec", Number: 9, Groups: []string{"module V"},
		Nouns:    Nouns{One: "element", Many: "elements", Parts: []string{"element"}, Inputs: []string{"element", "vector"}},
		Commands: Commands{Count: "VCARD", Read: "VRANGE key - +", Page: "VRANGE key after + n", Pages: ByName, Add: "VADD key VALUES vector element", Drop: "VREM key name", Get: "VGETATTR key name", Put: "VSETATTR key name text"},
		Storage: Storage{Tables: []Table{
			{Name: "vector_sets", Role: One, Columns: []string{"key_id", "dim", "input_dim", "quantization", "m", "size", "per"}},
			{
				Name: "vectors", Columns: []string{"key_id", "slot", "element", "attributes"}, Key: []string{"slot"}, Long: []string{"element", "attributes"}, Order: "slot",
				Bytes: `length(element) + ifnull(length(attributes), 0)`, Memory: `30 + 2 * length(element) + ifnull(length(attributes), 0)`,
			},
			{Name: "vector_blocks", Role: Rest, Columns: []string{"key_id", "block", "records"}, Key: []string{"block"}, Long: []string{"records"}, Order: "block"},
		}, Weight: vectorBytes, Memory: vectorBytes},
	},
	{
		Name: JSON, Label: "json", Number: 7, Groups: []string{"module JSON."},
		Nouns:    Nouns{Inputs: []string{"JSON"}},
		Commands: Commands{Probe: "JSON.TYPE", Read: "JSON.GET key", Page: "JSON.GET key", Form: Whole, Add: "JSON.SET key $ JSON"}, NoDump: true,
		Storage: Storage{Tables: []Table{{Name: "documents", Role: OneValue, Columns: []string{"key_id", "value"}, Long: []string{"value"}, Bytes: `length(value)`}}, Size: documentBytes, Memory: `10 + ` + documentBytes},
	},
	sketch(Bloom, "bloom", 10, "BF", "bloom_filters", "BF.ADD key item", "item"),
	sketch(Cuckoo, "cuckoo", 11, "CF", "cuckoo_filters", "CF.ADD key item", "item"),
	sketch(CountMin, "cms", 12, "CMS", "count_min_sketches", "CMS.INITBYDIM key width depth", "width", "depth"),
	sketch(TopK, "topk", 13, "TOPK", "top_k_lists", "TOPK.RESERVE key k", "k"),
	sketch(TDigest, "tdigest", 14, "TDIGEST", "t_digests", "TDIGEST.CREATE key"),
	{
		Name: Series, Label: "series", Number: 15, Groups: []string{"module TS."},
		Nouns:    Nouns{One: "sample", Many: "samples", Parts: []string{"timestamp", "value"}, Inputs: []string{"timestamp", "value"}},
		Commands: Commands{Probe: "TS.INFO", Read: "TS.RANGE key - +", Page: "TS.RANGE key cursor + COUNT n", Pages: ByIndex, Add: "TS.ADD key timestamp value", Drop: "TS.DEL key name name", Dumped: true},
		Storage: Storage{Tables: []Table{
			{Name: "series", Role: OneValue, Columns: []string{"key_id", "retention", "chunk_size", "plain", "policy", "ignore_time", "ignore_value", "last_at", "last_value"}},
			{Name: "samples", Columns: []string{"key_id", "at", "value"}, Key: []string{"at"}, Order: "at", Bytes: `16`, Memory: `24`},
			{Name: "series_labels", Role: Rest, Columns: []string{"key_id", "position", "name", "value"}, Key: []string{"position"}, Order: "position"},
		}},
	},
	{
		Name: Suggestions, Label: "suggest", Brief: "sugg", Number: 16, Groups: []string{"module FT.SUG"},
		Nouns:    Nouns{One: "string", Many: "strings", Parts: []string{"string"}, Inputs: []string{"string", "score"}},
		Commands: Commands{Count: "FT.SUGLEN", Read: "FT.SUGGET key prefix MAX 1000000", Page: "FT.SUGGET key prefix MAX n", Add: "FT.SUGADD key string score", Drop: "FT.SUGDEL key name", Dumped: true},
		Storage: Storage{Tables: []Table{{
			Name: "suggestions", Columns: []string{"key_id", "string", "folded", "score", "payload"}, Key: []string{"folded", "string"}, Long: []string{"string", "folded", "payload"}, Order: "folded, string",
			Bytes: `length(string) + 8 + ifnull(length(payload), 0)`, Memory: `24 + 2 * length(string) + ifnull(length(payload), 0)`,
		}}},
	},
}

// sketch describes a probabilistic type. Its value is shown as its INFO, and moved as its DUMP.
func sketch(name, label string, number byte, commands, table, add string, inputs ...string) *Type {
	bytes := `(SELECT ifnull(sum(length(data)), 0) FROM ` + table + ` WHERE key_id = keys.id)`
	info := commands + ".INFO key"
	return &Type{
		Name: name, Label: label, Number: number, Groups: []string{"module " + commands + "."},
		Nouns:    Nouns{Inputs: inputs},
		Commands: Commands{Probe: commands + ".INFO", Read: info, Page: info, Form: Summary, Add: add, Dumped: true},
		Storage: Storage{Tables: []Table{{
			Name: table, Columns: []string{"key_id", "block", "data"}, Key: []string{"block"}, Long: []string{"data"}, Order: "block",
			Bytes: `length(data)`, Memory: `16 + length(data)`,
		}}, Size: bytes},
	}
}
