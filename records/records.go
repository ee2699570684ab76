package records

import (
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/resp"
)

// Table is a reply as records. Every row has a cell for each column.
type Table struct {
	Columns []string
	Rows    [][]resp.Value
	// List says that the records are the elements of a list, set or other
	// collection: one column.
	List bool
	// Scan says that they are a page of a scan, and Cursor where it goes on, ""
	// for its end.
	Scan   bool
	Cursor string
}

// Of sees the records in v, the reply to args. ok is false for a reply that has
// none: a single value, an error, something nested.
func Of(args [][]byte, v resp.Value) (t Table, ok bool) {
	call := newCall(args)
	if columns, isScan := scans[call.name]; isScan {
		return call.scan(columns, v)
	}
	if streamReads[call.name] {
		return call.stream(v)
	}
	if columns := call.pairColumns(v); columns != nil {
		return pairs(columns, v)
	}
	switch v.Kind {
	case resp.Map, resp.PairMap:
		return pairs([]string{"name", "value"}, v)
	case resp.Array, resp.Set, resp.Push:
		return call.rows(v)
	}
	return t, false
}

// call is a command as far as the shape of its reply depends on it.
type call struct {
	name string // with the second word of "CONFIG GET" and its like
	args [][]byte
}

func newCall(args [][]byte) call {
	c := call{args: args}
	if len(args) > 0 {
		c.name = strings.ToUpper(string(args[0]))
	}
	switch c.name {
	case "COMMAND", "CONFIG", "XINFO", "PUBSUB", "SLOWLOG", "LATENCY", "ACL", "MODULE", "FUNCTION":
		if len(args) > 1 {
			c.name += " " + strings.ToUpper(string(args[1]))
		}
	}
	return c
}

func (c call) has(option string) bool {
	return slices.ContainsFunc(c.args, func(arg []byte) bool { return strings.EqualFold(string(arg), option) })
}

// from is the call without what stands before its options: a name there is no
// option.
func (c call) from(option int) call {
	return call{name: c.name, args: c.args[min(option, len(c.args)):]}
}

var (
	fieldValue  = []string{"field", "value"}
	memberScore = []string{"member", "score"}
)

// scans are the commands that answer a cursor and a page.
var scans = map[string][]string{
	"SCAN": {"key"}, "SSCAN": {"member"}, "HSCAN": fieldValue, "ZSCAN": memberScore,
}

func (c call) scan(columns []string, v resp.Value) (t Table, ok bool) {
	if len(v.Elems) != 2 || v.Elems[1].Kind != resp.Array {
		return t, false
	}
	if cursor := string(keyspace.Text(v.Elems[0])); cursor != "0" {
		t.Cursor = cursor
	}
	page := v.Elems[1]
	if c.name == "HSCAN" && c.has("NOVALUES") {
		columns = columns[:1]
	}
	if len(columns) == 1 {
		t.Columns, t.Rows, t.List, t.Scan = columns, singles(page.Elems), true, true
		return t, true
	}
	cursor := t.Cursor
	t, ok = pairs(columns, page)
	t.Cursor, t.Scan = cursor, true
	return t, ok
}

// pairColumns are the columns of a reply that is made of pairs, nil for another.
func (c call) pairColumns(v resp.Value) []string {
	switch c.name {
	case "HGETALL":
		return fieldValue
	case "HRANDFIELD":
		if c.has("WITHVALUES") {
			return fieldValue
		}
	case "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE", "ZUNION", "ZINTER", "ZDIFF", "ZRANDMEMBER":
		if c.has("WITHSCORES") {
			return memberScore
		}
	case "ZPOPMIN", "ZPOPMAX":
		return memberScore
	case "CONFIG GET":
		return []string{"parameter", "value"}
	case "PUBSUB NUMSUB", "PUBSUB SHARDNUMSUB":
		return []string{"channel", "subscribers"}
	case "XINFO STREAM":
		return []string{"name", "value"}
	}
	if v.Kind == resp.Scored {
		return memberScore
	}
	return nil
}

// pairs are two-column records of an aggregate whose elements alternate, or are
// arrays of two.
func pairs(columns []string, v resp.Value) (t Table, ok bool) {
	elems := v.Elems
	t.Columns = columns
	switch {
	case v.Kind == resp.Array && len(elems) > 0 && elems[0].Kind == resp.Array:
		t.Rows = make([][]resp.Value, len(elems))
		for i, e := range elems {
			if len(e.Elems) != 2 {
				return t, false
			}
			t.Rows[i] = e.Elems
		}
	case v.Kind < resp.Array || v.Kind > resp.PairMap || len(elems)%2 != 0:
		return t, false
	default:
		t.Rows = make([][]resp.Value, len(elems)/2)
		for i := range t.Rows {
			t.Rows[i] = elems[2*i : 2*i+2 : 2*i+2]
		}
	}
	if columns[1] == "score" {
		for i, row := range t.Rows {
			if row[1].Kind == resp.Bulk {
				t.Rows[i] = []resp.Value{row[0], number(row[1])}
			}
		}
	}
	return t, true
}

// number is a score that came as a string, which RESP2 has them as.
func number(v resp.Value) resp.Value {
	if f, err := strconv.ParseFloat(string(v.Str), 64); v.Kind == resp.Bulk && err == nil {
		return resp.Value{Kind: resp.Double, Float: f, Str: v.Str}
	}
	return v
}

// rowColumns are the columns of commands whose reply is an array of arrays.
var rowColumns = map[string][]string{
	"SLOWLOG GET": {"id", "time", "microseconds", "command", "client", "name"}, "LATENCY LATEST": {"event", "time", "latest", "max"},
	"LATENCY HISTORY": {"time", "milliseconds"}, "XPENDING": {"id", "consumer", "idle", "deliveries"},
	"GEOPOS": {"longitude", "latitude"},
}

// elementColumn is what the elements of a command's reply are.
var elementColumn = map[string]string{
	"KEYS": "key", "SMEMBERS": "member", "SINTER": "member", "SUNION": "member", "SDIFF": "member", "SPOP": "member", "SRANDMEMBER": "member",
	"ZRANGE": "member", "ZREVRANGE": "member", "ZRANGEBYSCORE": "member", "ZREVRANGEBYSCORE": "member", "ZRANGEBYLEX": "member",
	"ZREVRANGEBYLEX": "member", "ZUNION": "member", "ZINTER": "member", "ZDIFF": "member", "ZRANDMEMBER": "member",
	"HKEYS": "field", "HRANDFIELD": "field", "GEOSEARCH": "member", "GEORADIUS": "member", "GEORADIUSBYMEMBER": "member",
}

// rows are the records of an array: one a map, one an array, or one an element.
func (c call) rows(v resp.Value) (t Table, ok bool) {
	switch c.name {
	case "EXEC", "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO":
		return t, false // each element is a reply of its own
	case "XINFO GROUPS", "XINFO CONSUMERS", "ACL LOG", "MODULE LIST", "FUNCTION LIST":
		return maps(v.Elems)
	}
	if c.name == "GEOPOS" {
		v = each(placed)(v)
	}
	switch shape(v.Elems) {
	case allMaps:
		return maps(v.Elems)
	case allArrays:
		return c.arrays(v.Elems)
	case allScalars:
		name, ok := elementColumn[c.name]
		if !ok {
			name = "value"
		}
		return Table{Columns: []string{name}, Rows: singles(v.Elems), List: true}, true
	}
	return t, false
}

// placed is where a member is, also when it is nowhere.
func placed(v resp.Value) resp.Value {
	if v.IsNull() {
		return resp.MakeArray(resp.Nil, resp.Nil)
	}
	return v
}

func singles(elems []resp.Value) [][]resp.Value {
	rows := make([][]resp.Value, len(elems))
	for i := range elems {
		rows[i] = elems[i : i+1 : i+1]
	}
	return rows
}

// The shapes of an array's elements.
type elements int

const (
	allScalars elements = iota
	allMaps
	allArrays
	mixed
)

func shape(elems []resp.Value) elements {
	of := func(v resp.Value) elements {
		switch v.Kind {
		case resp.Map:
			return allMaps
		case resp.Array:
			return allArrays
		case resp.Set, resp.Push, resp.Scored, resp.PairMap:
			return mixed
		}
		return allScalars
	}
	if len(elems) == 0 {
		return allScalars
	}
	first := of(elems[0])
	for _, e := range elems[1:] {
		if of(e) != first {
			return mixed
		}
	}
	return first
}

// maps are records whose columns are the keys of maps, or of flat arrays that
// stand for maps.
func maps(elems []resp.Value) (t Table, ok bool) {
	for _, e := range elems {
		if len(e.Elems)%2 != 0 {
			return t, false
		}
		t.Columns = keysOf(t.Columns, e)
	}
	for _, e := range elems {
		t.Rows = append(t.Rows, spread(t.Columns, e))
	}
	return t, len(t.Columns) > 0
}

// keysOf adds the keys of a map to columns, each once.
func keysOf(columns []string, m resp.Value) []string {
	for i := 0; i+1 < len(m.Elems); i += 2 {
		if key := string(m.Elems[i].Str); !slices.Contains(columns, key) {
			columns = append(columns, key)
		}
	}
	return columns
}

// spread is the map's value for each column, nil where it has none.
func spread(columns []string, m resp.Value) []resp.Value {
	row := make([]resp.Value, len(columns))
	for i := 0; i+1 < len(m.Elems); i += 2 {
		row[slices.Index(columns, string(m.Elems[i].Str))] = m.Elems[i+1]
	}
	return row
}

// arrays are records that are arrays of one length.
func (c call) arrays(elems []resp.Value) (t Table, ok bool) {
	columns := rowColumns[c.name]
	geo := elementColumn[c.name] == "member" && strings.HasPrefix(c.name, "GEO")
	if geo {
		columns = c.geoColumns()
	}
	for _, e := range elems {
		row := e.Elems
		if geo {
			row = flattened(row)
		}
		if len(row) == 0 || len(t.Rows) > 0 && len(row) != len(t.Rows[0]) {
			return t, false
		}
		t.Rows = append(t.Rows, row)
	}
	n := len(t.Rows[0])
	if t.Columns = columns[:min(n, len(columns))]; len(t.Columns) < n {
		t.Columns = nil
		for i := range n {
			t.Columns = append(t.Columns, strconv.Itoa(i+1))
		}
	}
	return t, true
}

// geoColumns are what a search answers of each member, in the order in which it
// does whatever the order of the options.
func (c call) geoColumns() []string {
	columns := []string{"member"}
	for _, option := range []struct {
		word    string
		columns []string
	}{{"WITHDIST", []string{"distance"}}, {"WITHHASH", []string{"hash"}}, {"WITHCOORD", []string{"longitude", "latitude"}}} {
		if c.has(option.word) {
			columns = append(columns, option.columns...)
		}
	}
	return columns
}

// flattened is row with the elements of its arrays in their places.
func flattened(row []resp.Value) []resp.Value {
	var flat []resp.Value
	for _, v := range row {
		if v.Kind == resp.Array {
			flat = append(flat, v.Elems...)
		} else {
			flat = append(flat, v)
		}
	}
	return flat
}
