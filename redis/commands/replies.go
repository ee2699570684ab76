package commands

// Reply shapes shared by several commands.
var (
	toMap      = &Shape{Form: ToMap}
	toMaps     = &Shape{Each: toMap}
	toDouble   = &Shape{Form: ToDouble}
	toDoubles  = &Shape{Each: toDouble}
	toUnsigned = &Shape{Form: ToUnsigned}
	toBool     = &Shape{Form: ToBool}
	lastDouble = &Shape{At: []PlacedShape{{-1, toDouble}}}
	toScored   = &Shape{Form: ToPairs, Each: lastDouble}
	scoredMap  = &Shape{Form: ToMap, Each: toDouble}

	fieldValue  = []string{"field", "value"}
	memberScore = []string{"member", "score"}

	elementScore   = []string{"element", "score"}
	vectorElements = []Reply{{Columns: []string{"element"}}}
	links          = []Reply{
		{With: "WITHSCORES", From: 3, Records: Levels, Columns: []string{"level", "element", "score"}, RESP3: &Shape{Each: scoredMap}},
		{Records: Levels, Columns: []string{"level", "element"}},
	}

	keyNames   = []Reply{{Columns: []string{"key"}}}
	fieldNames = []Reply{{Columns: []string{"field"}}}
	members    = []Reply{{Columns: []string{"member"}}}
	aMap       = []Reply{{RESP3: toMap}}
	someMaps   = []Reply{{Records: Maps, RESP3: toMaps}}
	aDouble    = []Reply{{RESP3: toDouble}}
	anIndex    = []Reply{{RESP3: toUnsigned}}
	aBool      = []Reply{{RESP3: toBool}}
	entries    = []Reply{{Records: Entries}}
	asScripts  = []Reply{{Records: NoRecords}} // each element is a reply of its own
	rank       = []Reply{{RESP3: lastDouble}}  // with a score after it
	popped     = []Reply{
		{From: 2, Records: Pairs, Columns: memberScore, RESP3: toScored},
		{Records: Pairs, Columns: memberScore, RESP3: lastDouble},
	}
	poppedFrom = []Reply{{RESP3: &Shape{At: []PlacedShape{{-1, &Shape{Each: lastDouble}}}}}}
	found      = []Reply{{
		From: 2, Records: FlatRows, Columns: []string{"member"},
		Added: []Added{{"WITHDIST", []string{"distance"}}, {"WITHHASH", []string{"hash"}}, {"WITHCOORD", []string{"longitude", "latitude"}}},
		RESP3: &Shape{Each: &Shape{At: []PlacedShape{{-1, toDoubles}}}},
	}}
	numbers   = []Reply{{RESP3: &Shape{Form: ToNumbers}}}
	jsonTypes = []Reply{{From: 2, Begins: "$", RESP3: &Shape{Form: ToOneList}}, {RESP3: &Shape{Form: ToOne}}}

	byStream    = []Reply{{Records: EntriesByStream, RESP3: toMap}}
	subscribers = []Reply{{Records: Pairs, Columns: []string{"channel", "subscribers"}}}
)

// withScores describes members, with scores if WITHSCORES is at position from or later.
func withScores(from int) []Reply {
	return []Reply{{With: "WITHSCORES", From: from, Records: Pairs, Columns: memberScore, RESP3: toScored}, members[0]}
}

// page describes the reply of a scan.
func page(columns ...string) []Reply { return []Reply{{Records: Page, Columns: columns}} }

// similar describes elements of a vector set, with scores and attributes by option.
var similar = []Reply{
	{With: "WITHSCORES WITHATTRIBS", From: 4, Records: Threes, Columns: []string{"element", "score", "attributes"}, RESP3: &Shape{Form: ToThirds, Each: &Shape{At: []PlacedShape{{0, toDouble}}}}},
	{With: "WITHSCORES", From: 4, Records: Pairs, Columns: elementScore, RESP3: scoredMap},
	{With: "WITHATTRIBS", From: 4, Records: Pairs, Columns: []string{"element", "attributes"}, RESP3: toMap},
	vectorElements[0],
}

// streamInfo describes the reply of XINFO STREAM. With FULL, its groups and their consumers
// are maps.
var streamInfo = []Reply{{
	Records: Pairs, Columns: []string{"name", "value"},
	RESP3: &Shape{Form: ToMap, Named: []NamedShape{
		{"groups", &Shape{Each: &Shape{Form: ToMap, Named: []NamedShape{{"consumers", toMaps}}}}},
	}},
}}

// libraries describes maps of libraries, whose functions are maps, too.
var libraries = []Reply{{Records: Maps, RESP3: &Shape{Each: &Shape{Form: ToMap, Named: []NamedShape{{"functions", toMaps}}}}}}

// Recursive shapes: a subcommand has the shape of a command, and a nested argument the shape
// of an argument.
var (
	commandShape   = &Shape{At: []PlacedShape{{8, &Shape{Each: keySpecShape}}}}
	keySpecShape   = &Shape{Form: ToMap, Named: []NamedShape{{"begin_search", searchShape}, {"find_keys", searchShape}}}
	searchShape    = &Shape{Form: ToMap, Named: []NamedShape{{"spec", toMap}}}
	docsShape      = &Shape{Form: ToMap, Each: &Shape{Form: ToMap, Named: []NamedShape{{"arguments", argumentsShape}}}}
	argumentsShape = &Shape{Each: &Shape{Form: ToMap, Named: []NamedShape{}}}
)

func init() {
	commandShape.At = append(commandShape.At, PlacedShape{9, &Shape{Each: commandShape}})
	docsShape.Each.Named = append(docsShape.Each.Named, NamedShape{"subcommands", docsShape})
	argumentsShape.Each.Named = append(argumentsShape.Each.Named, NamedShape{"arguments", argumentsShape})
}

var (
	described  = []Reply{{RESP3: &Shape{Each: commandShape}}}
	documented = []Reply{{RESP3: docsShape}}
)
