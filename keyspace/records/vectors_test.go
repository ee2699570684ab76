package records_test

import (
	"context"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/keyspace/records"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestVectorRecords checks the column names of vector set replies in both protocols.
func TestVectorRecords(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	session := engine.New(file).Session()
	do := func(line string) ([][]byte, resp.Value) {
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		v, err := session.Do(context.Background(), args...)
		if err != nil || v.IsError() {
			t.Fatalf("%s: %v %s", line, err, v.Str)
		}
		return args, v
	}
	do("VADD k VALUES 2 1 0 east NOQUANT SETATTR x")
	do("VADD k VALUES 2 0 1 north NOQUANT")
	for _, s := range []struct{ command, csv, ndjson string }{
		{"VSIM k ELE east", "\"element\"\n\"east\"\n\"north\"\n", "\"east\"\n\"north\"\n"},
		{"VSIM k ELE east WITHSCORES", "\"element\",\"score\"\n\"east\",1\n\"north\",0.5\n", `{"element":"east","score":1}` + "\n" + `{"element":"north","score":0.5}` + "\n"},
		{"VSIM k ELE east WITHATTRIBS COUNT 1", "\"element\",\"attributes\"\n\"east\",\"x\"\n", `{"element":"east","attributes":"x"}` + "\n"},
		{"VSIM k ELE east WITHATTRIBS WITHSCORES", "\"element\",\"score\",\"attributes\"\n\"east\",1,\"x\"\n\"north\",0.5,NULL\n",
			`{"element":"east","score":1,"attributes":"x"}` + "\n" + `{"element":"north","score":0.5,"attributes":null}` + "\n"},
		{"VLINKS k east", "\"level\",\"element\"\n0,\"north\"\n", `{"level":0,"element":"north"}` + "\n"},
		{"VLINKS k east WITHSCORES", "\"level\",\"element\",\"score\"\n0,\"north\",0.5\n", `{"level":0,"element":"north","score":0.5}` + "\n"},
		{"VRANGE k - +", "\"element\"\n\"east\"\n\"north\"\n", "\"east\"\n\"north\"\n"},
		{"VSIM none ELE east WITHSCORES", "\"element\",\"score\"\n", ""},
		{"VSIM none ELE east WITHSCORES WITHATTRIBS", "\"element\",\"score\",\"attributes\"\n", ""},
	} {
		args, v := do(s.command)
		for name, v := range map[string]resp.Value{"RESP2": resp.Downgrade(v), "RESP3": resp.Upgrade(v), "REST": records.RESP3(args, resp.Downgrade(v))} {
			table, ok := records.Of(args, v)
			if got := string(table.AppendCSV(nil, true, false)); !ok || got != s.csv {
				t.Errorf("%s of %s\ngot  %q\nwant %q", name, s.command, got, s.csv)
			}
			if got := string(table.AppendNDJSON(nil)); got != s.ndjson {
				t.Errorf("%s of %s\ngot  %q\nwant %q", name, s.command, got, s.ndjson)
			}
		}
	}
	levels := resp.MakeArray(resp.MakeArray(resp.MakeString("a")), resp.MakeArray(resp.MakeString("b"), resp.MakeString("c"))) // of a server
	table, _ := records.Of([][]byte{[]byte("VLINKS"), []byte("k"), []byte("e")}, levels)
	if got := string(table.AppendCSV(nil, false, false)); got != "1,\"a\"\n0,\"b\"\n0,\"c\"\n" {
		t.Errorf("%q", got)
	}
}
