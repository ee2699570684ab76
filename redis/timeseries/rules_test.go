package timeseries

import (
	"reflect"
	"testing"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// dumped returns a series with a label, without samples.
func dumped() *rdb.Module {
	m := &rdb.Module{Name: "TSDB-TYPE", Version: DumpVersion}
	m.String([]byte("key"))
	m.Numbers(0, 4096, 1, 15)
	m.Double(2)
	m.Numbers(2, 0, 0, 0)
	m.Double(0)
	m.Numbers(1)
	m.String([]byte("a"))
	m.String([]byte("b"))
	m.Numbers(0, 1, 0, 0, 8)
	m.String(make([]byte, 8))
	return m
}

func TestJoinAndSplitRules(t *testing.T) {
	var rules []Rule
	for a := Min; a <= CountAll; a++ {
		rules = append(rules, Rule{[]byte("to " + a.String()), a, 10, 3, int64(a%2)*11 - 1})
	}
	for _, samples := range [][]Sample{nil, {{At: 11, Value: 1.5}, {At: 15, Value: 2}}} {
		joined := JoinRules(dumped(), []byte("source"), rules, samples)
		plain, got := SplitRules(joined)
		if !reflect.DeepEqual(got, rules) {
			t.Errorf("got %v", got)
		}
		if !reflect.DeepEqual(plain, dumped()) {
			t.Errorf("got %q", rdb.Dump(plain, nil))
		}
	}
	if plain, got := SplitRules(dumped()); got != nil || !reflect.DeepEqual(plain, dumped()) {
		t.Errorf("got %v", got)
	}
}

func TestRulesOf(t *testing.T) {
	rule := []resp.Value{resp.MakeInt(10), resp.MakeStatus("AVG"), resp.MakeInt(3)}
	want := []Rule{{[]byte("to"), Avg, 10, 3, NoBucket}}
	for _, shown := range []resp.Value{
		resp.MakeArray(resp.MakeArray(append([]resp.Value{resp.MakeString("to")}, rule...)...)),
		resp.MakeMap(resp.MakeString("to"), resp.MakeArray(rule...)),
	} {
		source, got := RulesOf(resp.MakeMap(resp.MakeStatus("sourceKey"), resp.MakeString("from"), resp.MakeStatus("rules"), shown))
		if string(source) != "from" || !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, %v", source, got)
		}
	}
}

// TestCreateCalls has a rule with an open bucket, and one that was created after the last sample.
func TestCreateCalls(t *testing.T) {
	rules := []Rule{{[]byte("late"), Sum, 10, 0, NoBucket}, {[]byte("open"), StdP, 10, 0, 10}}
	var got []string
	for _, args := range CreateCalls([]byte("k"), rules, []Sample{{At: 11, Value: 1.5}, {At: 15, Value: 2}}) {
		line := ""
		for _, a := range args {
			line += string(a) + " "
		}
		got = append(got, line)
	}
	want := []string{"TS.DEL k 11 + ", "TS.CREATERULE k open AGGREGATION STD.P 10 0 ", "TS.MADD k 11 1.5 k 15 2 ", "TS.CREATERULE k late AGGREGATION SUM 10 0 "}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}
