package commands

const (
	geoUnits   = "<M|KM|FT|MI>"
	geoWith    = "[WITHCOORD] [WITHDIST] [WITHHASH]"
	geoCount   = "[COUNT count [ANY]]"
	geoFromBy  = "<FROMMEMBER member|FROMLONLAT longitude latitude> <BYRADIUS radius " + geoUnits + "|BYBOX width height " + geoUnits + "> [ASC|DESC] " + geoCount
	geoRadius  = "radius " + geoUnits + " " + geoWith + " " + geoCount + " [ASC|DESC]"
	geoStoring = " [STORE key|STOREDIST key]"
)

// radiusKeys describes the keys of a GEORADIUS command that can store.
func radiusKeys(from int) []KeySpec {
	return []KeySpec{
		oneKey(RO, 1),
		{Access: OW | Updates | Incomplete, Keyword: "STORE", Index: from, Step: 1},
		{Access: OW | Updates | Incomplete, Keyword: "STOREDIST", Index: from, Step: 1},
	}
}

// findRadiusKeys finds the key of GEORADIUS and the key of its last STORE or STOREDIST.
func findRadiusKeys(args [][]byte) []KeyRef {
	refs := firstKey(args, RO)
	for i := 5; i+1 < len(args); i++ {
		if Is(args[i], "STORE") || Is(args[i], "STOREDIST") {
			refs = append(refs[:1], KeyRef{Pos: i + 1, Access: OW})
			i++
		}
	}
	return refs
}

var geoCommands = []Command{
	{
		Name: "GEOADD", Group: "geo", Since: "3.2.0", Arity: -5, Flags: Write | DenyOOM,
		Summary: "Stores the positions of members, as a sorted set of geohashes",
		Syntax:  "key [NX|XX] [CH] longitude latitude member [longitude latitude member ...]",
		Keys:    []KeySpec{oneKey(RW, 1)},
	},
	{
		Name: "GEODIST", Group: "geo", Since: "3.2.0", Arity: -4, Flags: ReadOnly,
		Summary: "Returns the distance between two members, or nil if one is missing",
		Syntax:  "key member1 member2 [M|KM|FT|MI]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "GEOPOS", Group: "geo", Since: "3.2.0", Arity: -2, Flags: ReadOnly,
		Replies: []Reply{{Records: Rows, Columns: []string{"longitude", "latitude"}, RESP3: &Shape{Each: toDoubles}}},
		Summary: "Returns the longitude and latitude of members",
		Syntax:  "key [member [member ...]]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "GEOHASH", Group: "geo", Since: "3.2.0", Arity: -2, Flags: ReadOnly,
		Summary: "Returns the standard geohash of members",
		Syntax:  "key [member [member ...]]", Keys: []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "GEOSEARCH", Group: "geo", Since: "6.2.0", Arity: -7, Flags: ReadOnly,
		Replies: found,
		Summary: "Finds the members inside a circle or a box",
		Syntax:  "key " + geoFromBy + " " + geoWith,
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "GEOSEARCHSTORE", Group: "geo", Since: "6.2.0", Arity: -8, Flags: Write | DenyOOM,
		Summary: "Stores the members inside a circle or a box and returns their number",
		Syntax:  "destination source " + geoFromBy + " [STOREDIST]",
		Keys:    []KeySpec{oneKey(OW, 1), oneKey(RO, 2)},
	},
	{
		Name: "GEORADIUS", Group: "geo", Since: "3.2.0", Arity: -6, Flags: Write | DenyOOM | MovableKeys,
		Replies: found,
		Summary: "Finds, or stores, the members within a distance of a position",
		Syntax:  "key longitude latitude " + geoRadius + geoStoring,
		Keys:    radiusKeys(6), FindKeys: findRadiusKeys,
	},
	{
		Name: "GEORADIUSBYMEMBER", Group: "geo", Since: "3.2.0", Arity: -5, Flags: Write | DenyOOM | MovableKeys,
		Replies: found,
		Summary: "Finds, or stores, the members within a distance of another member",
		Syntax:  "key member " + geoRadius + geoStoring,
		Keys:    radiusKeys(5), FindKeys: findRadiusKeys,
	},
	{
		Name: "GEORADIUS_RO", Group: "geo", Since: "3.2.10", Arity: -6, Flags: ReadOnly,
		Replies: found,
		Summary: "Finds the members within a distance of a position",
		Syntax:  "key longitude latitude " + geoRadius,
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
	{
		Name: "GEORADIUSBYMEMBER_RO", Group: "geo", Since: "3.2.10", Arity: -5, Flags: ReadOnly,
		Replies: found,
		Summary: "Finds the members within a distance of another member",
		Syntax:  "key member " + geoRadius,
		Keys:    []KeySpec{oneKey(RO, 1)},
	},
}
