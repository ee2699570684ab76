// Package longcalls lists calls whose computation other clients must not wait for.
package longcalls

import (
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/redis/rdb"
)

// Reason is the reason why an event loop hands a call to a goroutine.
type Reason int

const (
	Decoding  Reason = iota
	Planning         // of its arguments
	Steps            // it has several
	Arguments        // it has many
)

// Call is a call, and the calls that prepare its keys.
type Call struct {
	Before [][]string
	Words  []string
	Why    Reason
}

// Name returns the beginning of the call.
func (c *Call) Name() string { return fmt.Sprintf("%.60s", strings.Join(c.Words, " ")) }

// All holds the calls. Each takes more steps than store.StepsPerCheck.
var All = []Call{
	{[][]string{{"SETBIT", "b", "67108863", "0"}}, []string{"BITPOS", "b", "1"}, Decoding},
	{[][]string{{"SETBIT", "b", "67108863", "0"}}, []string{"BITCOUNT", "b", "3", "-3", "BIT"}, Decoding},
	{[][]string{{"SETBIT", "b", "67108863", "0"}}, []string{"GETRANGE", "b", "10", "-10"}, Decoding},
	{[][]string{{"SETBIT", "b", "8388607", "1"}}, []string{"BITOP", "NOT", "l", "b"}, Steps},
	{[][]string{{"MSET", "a", strings.Repeat("ab", 500), "b", strings.Repeat("ba", 500)}}, []string{"LCS", "a", "b"}, Decoding},
	{[][]string{{"JSON.SET", "j", "$", nested(100)}}, []string{"JSON.GET", "j", "$" + strings.Repeat("..*", 4)}, Decoding},
	{[][]string{{"JSON.SET", "j", "$", "[" + strings.Repeat("1,", 300) + "1]"}}, []string{"JSON.GET", "j", "$[?(@ in $)]"}, Decoding},
	{[][]string{{"JSON.SET", "j", "$", "[" + strings.Repeat("1,", 10000) + "1]"}}, []string{"JSON.TYPE", "j", "$[*]"}, Decoding},
	{[][]string{{"JSON.SET", "j", "$", nested(100)}}, []string{"JSON.DEL", "j", "$" + strings.Repeat("..*", 4)}, Steps},
	{nil, []string{"JSON.SET", "j", "$", "[" + strings.Repeat("1,", 50000) + "1]"}, Planning},
	{[][]string{{"SET", strings.Repeat("a", 2000), "v"}}, []string{"KEYS", "*" + strings.Repeat("a", 1000) + "b"}, Decoding},
	{[][]string{{"SADD", "s", strings.Repeat("a", 2000), "v"}}, []string{"SSCAN", "s", "0", "MATCH", "*" + strings.Repeat("a", 1000) + "b"}, Decoding},
	{nil, []string{"COMMAND", "LIST", "FILTERBY", "PATTERN", strings.Repeat("*", 1000)}, Planning},
	{nil, append([]string{"MGET"}, strings.Fields(strings.Repeat("k ", 5000))...), Arguments},
	{each(10, "PFADD h%d %[1]d"), append([]string{"PFCOUNT"}, strings.Fields("h0 h1 h2 h3 h4 h5 h6 h7 h8 h9")...), Decoding},
	{[][]string{{"SET", "f", "v"}}, append([]string{"BITFIELD_RO", "f"}, strings.Fields(strings.Repeat("GET i64 7 ", 1300))...), Decoding},
	{[][]string{several("RPUSH l", 6000, "%d")}, []string{"SORT", "l", "DESC"}, Steps},
	{[][]string{several("RPUSH l", 6000, "%d")}, []string{"SORT", "l", "BY", "w_*", "ALPHA"}, Steps},
	{[][]string{several("GEOADD g", 1100, "13.%[1]d 38.%[1]d m%[1]d")}, strings.Fields("GEOSEARCH g FROMLONLAT 13 38 BYRADIUS 5000 km"), Decoding},
	{each(30, "VADD v VALUES 2 1 %d e%[1]d SETATTR "+attributes), []string{"VSIM", "v", "ELE", "e1", "FILTER", ".n>0" + strings.Repeat(" and .n>0", 30)}, Steps},
	{[][]string{several("XADD x *", 5000, "f%d v")}, []string{"XRANGE", "x", "-", "+"}, Decoding},
	{[][]string{several("XADD x 1-1", 5000, "f%d v"), strings.Fields("XGROUP CREATE x g 0")}, strings.Fields("XINFO STREAM x FULL"), Decoding},
	{[][]string{{"ARSET", "a", "0", strings.Repeat("a", 2000)}}, []string{"ARGREP", "a", "0", "9", "GLOB", "*" + strings.Repeat("a", 1000) + "b"}, Steps},
	{[][]string{{"ARSET", "a", "0", strings.Repeat("a", 70_000)}}, []string{"ARGREP", "a", "0", "9", "RE", "b{1,200}c"}, Steps},
	{[][]string{{"SETBIT", "b", "67108863", "0"}}, []string{"DUMP", "b"}, Steps},
	{nil, []string{"RESTORE", "r", "0", string(rdb.Dump(rdb.String(strings.Repeat("x", 5000)), nil))}, Planning},
}

var attributes = `{"x":"` + strings.Repeat("x", 80) + `","n":1}`

// nested returns nested arrays of the given depth.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// each returns n calls, which differ in their number.
func each(n int, call string) (calls [][]string) {
	for i := range n {
		calls = append(calls, strings.Fields(fmt.Sprintf(call, i)))
	}
	return calls
}

// several returns a call with n elements.
func several(call string, n int, element string) []string {
	words := strings.Fields(call)
	for i := range n {
		words = append(words, strings.Fields(fmt.Sprintf(element, i))...)
	}
	return words
}
