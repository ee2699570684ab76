//go:build !wasip1 || search

package commands

// The commands of the query engine: redis.io/docs/latest/commands/?group=search.

var searchCategory = []string{"search"}

var searchCommands = []Command{
	{
		Name: "FT.CREATE", Group: "module", Since: "1.0.0", Arity: -5, Flags: Write | DenyOOM | Module, Categories: searchCategory, Traits: AnswersOK,
		Summary: "Creates an index of hashes or JSON documents", Syntax: "index_name " + searchDefinition,
	},
	{
		Name: "FT._CREATEIFNX", Group: "module", Since: "1.0.0", Arity: -5, Flags: Write | DenyOOM | Module, Categories: searchCategory, Traits: AnswersOK,
		Summary: "Creates an index, unless it exists", Syntax: "index_name " + searchDefinition,
	},
	{
		Name: "FT.ALTER", Group: "module", Since: "1.0.0", Arity: -6, Flags: Write | DenyOOM | Module, Categories: searchCategory, Traits: AnswersOK,
		Summary: "Adds fields to an index", Syntax: "index_name [SKIPINITIALSCAN] SCHEMA ADD " + searchFields,
	},
	{
		Name: "FT._ALTERIFNX", Group: "module", Since: "1.0.0", Arity: -6, Flags: Write | DenyOOM | Module, Categories: searchCategory, Traits: AnswersOK,
		Summary: "Adds fields to an index, unless it has the first of them", Syntax: "index_name [SKIPINITIALSCAN] SCHEMA ADD " + searchFields,
	},
	{
		Name: "FT.DROPINDEX", Group: "module", Since: "2.0.0", Arity: -2, Flags: Write | Module, Categories: searchCategory, Traits: AnswersOK | Dangerous,
		Summary: "Deletes an index, and its keys if asked to", Syntax: "index_name [DD]",
	},
	{
		Name: "FT._DROPINDEXIFX", Group: "module", Since: "2.0.0", Arity: -2, Flags: Write | Module, Categories: searchCategory, Traits: AnswersOK | Dangerous,
		Summary: "Deletes an index if it exists, and its keys if asked to", Syntax: "index_name [DD]",
	},
	{
		Name: "FT._LIST", Group: "module", Since: "2.0.0", Arity: -1, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Returns the names of all indexes",
	},
	{
		Name: "FT._DUMP", Group: "module", Since: "8.0.0", Arity: 1, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Returns the commands that create the indexes, their synonyms and aliases, and the dictionaries",
	},
	{
		Name: "FT.INFO", Group: "module", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache, Replies: properties,
		Summary: "Returns the fields and the statistics of an index", Syntax: "index_name",
	},
	{
		Name: "FT.ALIASADD", Group: "module", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Module, Categories: searchCategory, Traits: AnswersOK,
		Summary: "Gives an index one more name", Syntax: "alias index_name",
	},
	{
		Name: "FT._ALIASADDIFNX", Group: "module", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Module, Categories: searchCategory, Traits: AnswersOK,
		Summary: "Gives an index one more name, unless that exists", Syntax: "alias index_name",
	},
	{
		Name: "FT.ALIASUPDATE", Group: "module", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Module, Categories: searchCategory, Traits: AnswersOK,
		Summary: "Gives an index one more name, which another index may lose", Syntax: "alias index_name",
	},
	{
		Name: "FT.ALIASDEL", Group: "module", Since: "1.0.0", Arity: 2, Flags: Write | Module, Categories: searchCategory, Traits: AnswersOK,
		Summary: "Removes another name of an index", Syntax: "alias",
	},
	{
		Name: "FT._ALIASDELIFX", Group: "module", Since: "1.0.0", Arity: 2, Flags: Write | Module, Categories: searchCategory, Traits: AnswersOK,
		Summary: "Removes another name of an index if it exists", Syntax: "alias",
	},
	{
		Name: "FT.ALIASLIST", Group: "module", Since: "8.10.0", Arity: 2, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Returns the other names of an index", Syntax: "index_name",
	},
	{
		Name: "FT.SEARCH", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Finds the documents of an index that a query selects",
		Syntax: "index_name query [NOCONTENT] [VERBATIM] [NOSTOPWORDS] [WITHSCORES] [WITHPAYLOADS] [WITHSORTKEYS] [FILTER numeric_field min max [FILTER numeric_field min max ...]]" +
			" [GEOFILTER geo_field lon lat radius <m|km|mi|ft> [GEOFILTER geo_field lon lat radius <m|km|mi|ft> ...]] [INKEYS count key [key ...]] [INFIELDS count field [field ...]]" +
			" [RETURN count identifier [AS property] [identifier [AS property] ...]] [SUMMARIZE [FIELDS count field [field ...]] [FRAGS count] [LEN fragsize] [SEPARATOR separator]]" +
			" [HIGHLIGHT [FIELDS count field [field ...]] [TAGS open close]] [SLOP slop] [TIMEOUT timeout] [INORDER] [LANGUAGE language] [EXPANDER expander] [SCORER scorer] [EXPLAINSCORE]" +
			" [PAYLOAD payload] [SORTBY sortby [ASC|DESC]] [LIMIT offset count] [PARAMS nargs name value [name value ...]] [DIALECT dialect]",
	},
	{
		Name: "FT.AGGREGATE", Group: "module", Since: "1.1.0", Arity: -3, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Groups, computes and sorts the documents of an index that a query selects",
		Syntax: "index_name query [VERBATIM] [ADDSCORES] [LOAD <*|count field [field ...]>] [TIMEOUT timeout] [GROUPBY nargs [property [property ...]] [REDUCE function nargs [arg [arg ...]] [AS name] [REDUCE function nargs [arg [arg ...]] [AS name] ...]]]" +
			" [SORTBY nargs property [ASC|DESC] [property [ASC|DESC] ...] [MAX count]] [APPLY expression AS name [APPLY expression AS name ...]] [LIMIT offset count] [FILTER filter] [WITHCURSOR [COUNT read_size] [MAXIDLE idle_time]] [PARAMS nargs name value [name value ...]] [DIALECT dialect]",
	},
	{
		Name: "FT.HYBRID", Group: "module", Since: "8.4.4", Arity: -7, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Searches for words and for similar vectors, and combines the scores",
		Syntax: "index_name SEARCH query [SCORER scorer] [YIELD_SCORE_AS name] VSIM vector_field vector [KNN count K k [EF_RUNTIME ef_runtime]|RANGE count RADIUS radius [EPSILON epsilon]] [YIELD_SCORE_AS name] [FILTER filter]" +
			" [COMBINE <RRF count [CONSTANT constant] [WINDOW window] [YIELD_SCORE_AS name]|LINEAR count [ALPHA alpha] [BETA beta] [WINDOW window] [YIELD_SCORE_AS name]>] [LIMIT offset count] [SORTBY nargs property [ASC|DESC] [property [ASC|DESC] ...]|NOSORT]" +
			" [EXPLAINSCORE] [PARAMS nargs name value [name value ...]] [TIMEOUT timeout] [LOAD <*|count field [field ...]>] [GROUPBY nargs [property [property ...]] [REDUCE function nargs [arg [arg ...]] [AS name] [REDUCE function nargs [arg [arg ...]] [AS name] ...]]]" +
			" [APPLY expression AS name [APPLY expression AS name ...]] [FILTER filter] [WITHCURSOR [COUNT read_size] [MAXIDLE idle_time]]",
	},
	{
		Name: "FT.CURSOR", Group: "module", Arity: -2, Flags: ReadOnly | Module, Categories: searchCategory,
		Summary: "Reads and closes the cursors of FT.AGGREGATE",
	},
	{
		Name: "FT.CURSOR READ", Group: "module", Since: "1.1.0", Arity: -4, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Reads the next rows of a cursor", Syntax: "index_name cursor_id [COUNT read_size]",
	},
	{
		Name: "FT.CURSOR DEL", Group: "module", Since: "1.1.0", Arity: -4, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Closes a cursor", Syntax: "index_name cursor_id",
	},
	{
		Name: "FT.CURSOR GC", Group: "module", Arity: -2, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Closes the cursors that were not read for too long, and counts them",
	},
	{
		Name: "FT.PROFILE", Group: "module", Since: "2.2.0", Arity: -5, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Runs a query, and returns what its parts have done and how long they took",
		Syntax:  "index_name <SEARCH|AGGREGATE|HYBRID> [LIMITED] QUERY query [argument [argument ...]]",
	},
	{
		Name: "FT.SPELLCHECK", Group: "module", Since: "1.4.0", Arity: -3, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Suggests words in place of the words of a query that no document has",
		Syntax:  "index_name query [DISTANCE distance] [TERMS <INCLUDE|EXCLUDE> dictionary [TERMS <INCLUDE|EXCLUDE> dictionary ...]] [PARAMS nargs name value [name value ...]] [DIALECT dialect]",
	},
	{
		Name: "FT.CONFIG", Group: "module", Arity: -2, Flags: ReadOnly | Module, Categories: searchCategory,
		Summary: "Reads and sets the parameters of search",
	},
	{
		Name: "FT.CONFIG GET", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Returns the parameters with a name, or all for *", Syntax: "option",
	},
	{
		Name: "FT.CONFIG SET", Group: "module", Since: "1.0.0", Arity: -3, Flags: Write | Module, Categories: searchCategory, Traits: AnswersOK | ChangesServer,
		Summary: "Sets a parameter of search until the process ends", Syntax: "option value",
	},
	{
		Name: "FT.CONFIG HELP", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Describes the parameters with a name, or all for *", Syntax: "option",
	},
	{
		Name: "FT.EXPLAIN", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Returns how a query is understood",
		Syntax:  "index_name query [VERBATIM] [EXPANDER expander] [DIALECT dialect]",
	},
	{
		Name: "FT.EXPLAINCLI", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Returns how a query is understood, line by line",
		Syntax:  "index_name query [VERBATIM] [EXPANDER expander] [DIALECT dialect]",
	},
	{
		Name: "FT.TAGVALS", Group: "module", Since: "1.0.0", Arity: 3, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Returns the tags of a field",
		Syntax:  "index_name field_name",
	},
	{
		Name: "FT.SYNUPDATE", Group: "module", Since: "1.2.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: searchCategory, Traits: AnswersOK,
		Summary: "Adds words to a group of synonyms",
		Syntax:  "index_name synonym_group_id [SKIPINITIALSCAN] term [term ...]",
	},
	{
		Name: "FT.SYNDUMP", Group: "module", Since: "1.2.0", Arity: 2, Flags: ReadOnly | Module, Categories: searchCategory, Replies: aMap, Tips: dontCache,
		Summary: "Returns the synonyms of an index",
		Syntax:  "index_name",
	},
	{
		Name: "FT.SUGADD", Group: "module", Since: "1.0.0", Arity: -4, Flags: Write | DenyOOM | Module, Categories: searchCategory,
		Summary: "Adds a string to the suggestions of a key, or sets its score",
		Syntax:  "key string score [INCR] [PAYLOAD payload]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "FT.SUGGET", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: searchCategory,
		Summary: "Returns the suggestions that begin with a prefix, the best first",
		Syntax:  "key prefix [FUZZY] [WITHSCORES] [WITHPAYLOADS] [MAX max]", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "FT.SUGDEL", Group: "module", Since: "1.0.0", Arity: 3, Flags: Write | Module, Categories: searchCategory,
		Summary: "Removes a string from the suggestions of a key",
		Syntax:  "key string", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "FT.SUGLEN", Group: "module", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Module, Categories: searchCategory,
		Summary: "Returns the number of suggestions of a key",
		Syntax:  "key", Keys: []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "FT.DICTADD", Group: "module", Since: "1.4.0", Arity: -3, Flags: Write | DenyOOM | Module, Categories: searchCategory,
		Summary: "Adds words to a dictionary",
		Syntax:  "dict term [term ...]",
	},
	{
		Name: "FT.DICTDEL", Group: "module", Since: "1.4.0", Arity: -3, Flags: Write | Module, Categories: searchCategory,
		Summary: "Removes words from a dictionary",
		Syntax:  "dict term [term ...]",
	},
	{
		Name: "FT.DICTDUMP", Group: "module", Since: "1.4.0", Arity: 2, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Returns the words of a dictionary",
		Syntax:  "dict",
	},
}

// upstashCommands are the commands of Upstash's search: upstash.com/docs/redis/search.
var upstashCommands = []Command{
	{
		Name: "SEARCH.CREATE", Group: "module", Since: "1.0.0", Arity: -8, Flags: Write | DenyOOM | Module, Categories: searchCategory,
		Summary: "Creates an index of hashes, JSON documents or strings in JSON, for Upstash's search",
		Syntax:  "name [SKIPINITIALSCAN] [EXISTSOK] ON <JSON|HASH|STRING> PREFIX count prefix [prefix ...] [LANGUAGE language] SCHEMA " + upstashField + " [" + upstashField + " ...]",
	},
	{
		Name: "SEARCH.DROP", Group: "module", Since: "1.0.0", Arity: 2, Flags: Write | Module, Categories: searchCategory, Traits: Dangerous,
		Summary: "Deletes an index and keeps its keys", Syntax: "name",
	},
	{
		Name: "SEARCH.REINDEX", Group: "module", Since: "1.0.0", Arity: 2, Flags: Write | DenyOOM | Module, Categories: searchCategory,
		Summary: "Indexes all keys of an index again", Syntax: "name",
	},
	{
		Name: "SEARCH.WAITINDEXING", Group: "module", Since: "1.0.0", Arity: 2, Flags: Write | DenyOOM | Module, Categories: searchCategory,
		Summary: "Indexes the keys that existed before an index, unless that is done", Syntax: "name",
	},
	{
		Name: "SEARCH.DESCRIBE", Group: "module", Since: "1.0.0", Arity: 2, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache, Replies: properties,
		Summary: "Returns the definition and the size of an index", Syntax: "name",
	},
	{
		Name: "SEARCH.LISTINDEXES", Group: "module", Since: "1.0.0", Arity: -1, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Returns the names and types of indexes", Syntax: "[MATCH pattern] [LIMIT count] [OFFSET offset]",
	},
	{
		Name: "SEARCH.QUERY", Group: "module", Since: "1.0.0", Arity: -3, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Finds the documents that a filter in JSON selects",
		Syntax: "name filter [LIMIT count] [OFFSET offset] [ORDERBY field [ASC|DESC]] [SELECT count field [field ...]] [NOCONTENT] [HIGHLIGHT FIELDS count field [field ...] [TAGS open close]]" +
			" [SCOREFUNC [SCOREMODE <SUM|MULTIPLY|REPLACE>] [COMBINEMODE <SUM|MULTIPLY>] " + upstashFieldValue + " [" + upstashFieldValue + " ...]]",
	},
	{
		Name: "SEARCH.COUNT", Group: "module", Since: "1.0.0", Arity: 3, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Counts the documents that a filter in JSON selects", Syntax: "name filter",
	},
	{
		Name: "SEARCH.AGGREGATE", Group: "module", Since: "1.0.0", Arity: 4, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache, Replies: aMap,
		Summary: "Computes aggregations in JSON over the documents that a filter selects", Syntax: "name filter aggregations",
	},
	{
		Name: "SEARCH.ALIASADD", Group: "module", Since: "1.0.0", Arity: 3, Flags: Write | DenyOOM | Module, Categories: searchCategory,
		Summary: "Gives an index one more name, which another index may lose", Syntax: "alias name",
	},
	{
		Name: "SEARCH.ALIASDEL", Group: "module", Since: "1.0.0", Arity: 2, Flags: Write | Module, Categories: searchCategory,
		Summary: "Removes another name of an index", Syntax: "alias",
	},
	{
		Name: "SEARCH.LISTALIASES", Group: "module", Since: "1.0.0", Arity: 1, Flags: ReadOnly | Module, Categories: searchCategory, Tips: dontCache,
		Summary: "Returns the other names of indexes",
	},
}

const (
	upstashField      = "path <TEXT [NOSTEM] [NOTOKENIZE]|KEYWORD|U64|I64|F64|BOOL|DATE|FACET|HYBRID> [FAST] [FROM source]"
	upstashFieldValue = "FIELDVALUE field [MODIFIER <NONE|LOG|LOG1P|LOG2P|LN|LN1P|LN2P|SQUARE|SQRT|RECIPROCAL>] [FACTOR factor] [MISSING value]"
)

// searchDefinition is the definition of an index.
const searchDefinition = "[ON <HASH|JSON>] [INDEXALL <ENABLE|DISABLE>] [PREFIX count prefix [prefix ...]] [FILTER filter] [LANGUAGE default_lang] [LANGUAGE_FIELD lang_attribute]" +
	" [SCORE default_score] [SCORE_FIELD score_attribute] [PAYLOAD_FIELD payload_attribute] [MAXTEXTFIELDS] [TEMPORARY seconds] [NOOFFSETS] [NOHL] [NOFIELDS] [NOFREQS]" +
	" [STOPWORDS count [stopword [stopword ...]]] [SKIPINITIALSCAN] SCHEMA " + searchFields

// searchFields are the fields of an index, one at least.
const searchFields = searchField + " [" + searchField + " ...]"

const searchField = "field_name [AS alias] <TEXT [NOSTEM] [WEIGHT weight] [PHONETIC matcher]|TAG [SEPARATOR separator] [CASESENSITIVE]|NUMERIC|GEO|GEOSHAPE [FLAT|SPHERICAL]" +
	"|VECTOR algorithm count name value [name value ...]> [WITHSUFFIXTRIE] [INDEXEMPTY] [INDEXMISSING] [SORTABLE [UNF]] [NOINDEX]"
