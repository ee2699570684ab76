package inspect

// capabilities lists what the browser can do, and the session that shows it at each screen size. Capabilities
// that need a real terminal, an editor or a file are tested in cmd/inspect_test.go.
var capabilities = []struct {
	bullet, what, session string
	shows                 []string // each on some screen of the session
}{
	{"Keys", "a list of any number of keys, read in pages", "many", []string{"3,000 keys", "key:02999"}},
	{"Keys", "an exact tree, folders with their counts", "tree", []string{"▾ cache:", "▸ page:", "30 keys"}},
	{"Keys", "filter: glob", "filter", []string{"/ user:*", "glob"}},
	{"Keys", "filter: fuzzy, regex, exact, as one types", "choose", []string{"/ sn1▏", "fuzzy", "regex", "exact", "1 of 4 found"}},
	{"Keys", "filter by type and by time to live", "choose", []string{"string · within an hour", "session:00"}},
	{"Keys", "a text in values", "search", []string{"Search in values", "values: ann7@", "1 of 1 found", "searched all values", "in the keys of this list"}},
	{"Keys", "search indexes, their fields, and keys by a query", "indexes", []string{"Search indexes", "4 documents", "NUMERIC  SORTABLE", "Query of goods", "goods: red", "1 of 2 found"}},
	{"Keys", "filter by database", "databases", []string{"db 3 · 1 key", "three"}},
	{"Keys", "sort by TTL, count, bytes, type, update", "sort", []string{"TTL↑", "TTL↓", "BYTES↓", "TYP", "CHAN"}},
	{"Keys", "folders with their shares, and a filter by size", "sort", []string{"SHARE", "82%", ">700"}},
	{"Keys", "every TTL counts down", "time", []string{"1m 15s", "1m 14s"}},
	{"Keys", "what is over fades, and goes", "time", []string{"gone", "13 keys", "12 keys"}},
	{"Keys", "an empty database", "empty", []string{"is empty"}},

	{"Values", "a hash, and the TTL of a field", "values", []string{"hash · 3 fields", "pear   1m 30s"}},
	{"Values", "JSON, folded", "values", []string{`"theme": "dark"`, "… "}},
	{"Values", "a JSON document, searched", "values", []string{`"city": "Bern"`, "1 of "}},
	{"Values", "a stream: entries, groups, what is pending", "values", []string{"kind=login", "ops", "worker"}},
	{"Values", "encoding, version, times, SQL rows", "values", []string{"encoding"}},
	{"Values", "base64, gzip, zstd, MessagePack", "forms", []string{"base64 24 B", "gzip 4", "zstd 29 B", "MessagePack", `"mark": "found"`}},
	{"Values", "elements that hold a text, in any order", "elements", []string{"Show only fields that contain", "only 004", "by value", "by f", "No match"}},
	{"Values", "the groups of a stream, claimed, acknowledged, made", "groups", []string{"Claimed 1-1 for bob", "Acknowledged 1-1", "Delete the group ops?", "Added the group audit"}},
	{"Values", "a stream as it grows", "groups", []string{"live", "kind=new"}},
	{"Values", "images, and bytes in hex", "forms", []string{"GIF, 320 × 200 pixels", "00 01 fe ff"}},
	{"Values", "thousands of elements in pages, searched inside", "forms", []string{"20,460 fields", "20,460 of 20,460", "field:00042"}},
	{"Values", "wide letters, and what would steer the terminal", "forms", []string{"東京タワー", `\x1b[31m`}},

	{"Doing", "read-only until it is unlocked", "doing", []string{"The inspector is read-only", "Writing is unlocked", "Read-only again."}},
	{"Doing", "a folder goes after an exact count, and comes back", "doing", []string{"Delete cache:*, 33 keys?", "Deleted cache:*, 33 keys.", "Undone: Deleted cache:*"}},
	{"Doing", "several keys at once", "doing", []string{"2 rows marked", "Delete 2 keys?", "Undone: Deleted 2 keys."}},
	{"Doing", "mark a range, all that was found, and the others", "marks", []string{"2 rows in range", "Marked 10 keys.", "Marks inverted: 1 key.", "Marked 3 folders and 8 keys."}},
	{"Doing", "expire a folder, after a count", "doing", []string{"Set the TTL of user:* to 5m 00s, 30", "Undone: Set the TTL of user:*"}},
	{"Doing", "rename by a pattern, with what it does, and refused clashes", "rename", []string{"user:02 → person:02", "30 of 30 keys get a new name", "Rename 30 keys?", "Undone: Renamed 30 keys", "Nothing was renamed", "user:00 → user:10"}},
	{"Doing", "add, expire", "doing", []string{"Added mine.", "5m 00s", "TTL of mine", `invalid TTL "forever"`}},
	{"Doing", "edit, add and delete elements", "edit", []string{"Changed pear of cart.", "Deleted plum.", "Added to cart.", "Changed score of ann."}},
	{"Doing", "rename, edit a string, undo", "edit", []string{"Renamed to carts.", "Changed config.", "Undone: Changed config."}},
	{"Doing", "redo, and the list of changes", "steps", []string{"Redone: SET fresh 1", "Return to the state after", "Undone: 2 changes", "Redo: Deleted cache:*, 33 keys?"}},
	{"Doing", "copy key, value, command", "console", []string{"Copied the command", "Copied the shell command"}},

	{"Seeing", "types, TTLs and folders as plots", "overview", []string{"Types", "█", "Time to live", "never", "Largest folders", "Expires next"}},
	{"Seeing", "the file, its journal and pages", "overview", []string{"pages of", "journal"}},
	{"Seeing", "other clients' changes within a second", "follow", []string{"fig ", "102 keys", "Not following changes"}},
	{"Seeing", "any command, and those typed before", "console", []string{"HGETALL cart", "TYPE tags → set"}},
	{"Seeing", "the log of commands", "console", []string{"Commands sent", "0 ms"}},
	{"Seeing", "help from the bindings", "keys", []string{"unlock writing", "history of changes", "^P"}},
	{"Seeing", "the mouse", "mouse", []string{"▾ cache:", "cache:list:0", "list · 30 elements"}},

	{"Console", "completion and hints of the shell", "console", []string{"hgetall", "no string key begins with"}}, {"Anywhere", "an action by what it does, and bookmarks", "palette", []string{"Actions", "Bookmarked", "★ board", "recent keys"}},
	{"Doing", "many marked keys go and come back", "palette", []string{"Delete 3 keys?", "Deleted 3 keys.", "Undone: Deleted 3 keys."}},
	{"Tabs", "several targets, and copies between them", "tabs", []string{"2 b.db", "3 prod", "Copy 2 folders to", "Copied 2 folders", "Undone: Copied"}},

	{"Comparing", "two marked keys, a key and its past, JSON by its structure", "compare", []string{"2 differences, 0 equal", "before: SET config", "4 differences, 10 equal", "only the TTL", "no such key"}},

	{"Server", "clients, slow commands, channels, commands as they run, memory", "server", []string{"2 clients", "web-1", "338.8ms", "42/s", "90%", "news:a", "hello there", "127.0.0.1:42752", "used memory"}},
	{"Server", "where it is not offered", "server", []string{"Not available: a file"}},

	{"Anywhere", "a server, scanned, its overview a sample", "remote", []string{"in a sample of"}},
	{"Anywhere", "a token that may not SCAN: keys by name", "shut", []string{"NOPERM", "hash · 4 fields", "This target is read-only."}},
}
