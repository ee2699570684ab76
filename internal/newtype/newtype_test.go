// Package newtype_test declares a type that Redis does not have, and looks for it
// wherever keys are counted, checked, listed and named.
package newtype_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/catalog"
	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/doctor"
	"github.com/meowdis/meowdis/internal/storetest"
	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/survey"
)

var madeUp = &keytype.Type{
	Name: "Tally-RL", Label: "tally", Number: 200, Groups: []string{"tally"},
	One: "mark", Many: "marks", Parts: []string{"name", "marks"}, Given: []string{"name"},
	Count: "TALLYLEN", Read: "TALLYALL key", Page: "TALLYRANGE key after n", Pages: keytype.ByName,
	Tables: []keytype.Table{{Name: "tallies", Columns: []string{"key_id", "name", "marks"}, Long: []string{"name"}, Order: "name", Bytes: `length(name) + 8`}},
}

// tallies is a server with one tally.
type tallies struct{}

func (tallies) Do(_ context.Context, args ...[]byte) (resp.Value, error) {
	switch string(args[0]) {
	case "TYPE":
		return resp.MakeString("Tally-RL"), nil
	case "PTTL", "TTL":
		return resp.MakeInt(-1), nil
	case "TALLYLEN":
		return resp.MakeInt(1), nil
	case "TALLYRANGE":
		return resp.MakeArray(resp.MakeString("cats"), resp.MakeInt(3)), nil
	case "SCAN":
		return resp.MakeArray(resp.MakeString("0"), resp.MakeArray(resp.MakeString("votes"))), nil
	}
	return resp.MakeError("ERR unknown command"), nil
}

func (s tallies) Pipeline(ctx context.Context, calls [][][]byte) (all []resp.Value, err error) {
	for _, call := range calls {
		v, _ := s.Do(ctx, call...)
		all = append(all, v)
	}
	return all, nil
}

func TestNewType(t *testing.T) {
	keytype.Types = append(keytype.Types, madeUp)
	ctx := context.Background()

	// By commands: keys, peek, stats.
	key, err := survey.Walk{Client: tallies{}, Facts: survey.Measured}.Describe(ctx, []byte("votes"))
	if err != nil || key.Type != "Tally-RL" || key.Count != 1 {
		t.Errorf("described as %+v, %v", key, err)
	}
	if first, err := survey.First(ctx, tallies{}, key, 10); err != nil || len(first) != 1 || string(first[0][1]) != "3" {
		t.Errorf("its first elements are %s, %v", first, err)
	}

	// By the tables of a file: stats, the inspector, doctor.
	clock := storetest.NewClock()
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if v, err := storetest.NewEngine(file, clock).Session().Do(ctx, []byte("SADD"), []byte("votes"), []byte("x")); err != nil || v.IsError() {
		t.Fatal(v, err)
	}
	var stmts []store.Stmt
	for _, sql := range []string{
		`DELETE FROM sets`, `UPDATE keys SET type = 'Tally-RL'`,
		`CREATE TABLE tallies(key_id INTEGER, name BLOB, marks INTEGER)`, `INSERT INTO tallies SELECT id, CAST('cats' AS BLOB), 3 FROM keys`,
	} {
		stmts = append(stmts, store.Stmt{SQL: sql})
	}
	if r, err := file.Apply(ctx, []store.Batch{{Stmts: stmts}}); err != nil || r[0].Refused != nil {
		t.Fatal(r, err)
	}
	source := survey.File{Transact: file.Transact, Now: clock.Now(), Facts: survey.Measured}
	if err := source.Keys(ctx, func(keys []survey.Key) error {
		if k := keys[0]; k.Type != "Tally-RL" || k.Count != 1 || k.Bytes != 5+12 {
			t.Errorf("stats has %+v", k)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	c := catalog.New(file, clock.Now)
	if tables, err := c.Rows(ctx, 0, "votes"); err != nil || len(tables) != 2 || tables[1].Name != "tallies" || tables[1].Rows[0][1] != `"cats"` {
		t.Errorf("the inspector's rows are %+v, %v", tables, err)
	}
	if n, err := c.Weigh(ctx, 0, ""); n != 17 || err != nil {
		t.Errorf("the inspector weighs %d bytes, %v", n, err)
	}
	var checks strings.Builder
	for _, check := range doctor.Checks() {
		checks.WriteString(check.Name + strings.Join(check.Broken, " ") + strings.Join(check.Repair, " "))
	}
	if !strings.Contains(checks.String(), "SELECT 'tallies', key_id") || !strings.Contains(checks.String(), "WHEN 'Tally-RL' THEN EXISTS (SELECT 1 FROM tallies") {
		t.Error("doctor does not look at the table")
	}

	// By name: --type and its completion, keys of its commands, how people read it.
	named, ok := keytype.Named("TALLY")
	of, found := keytype.OfCommand("tally", "TALLYLEN")
	if !slices.Contains(keytype.Labels(), "tally") || !ok || named != madeUp || !found || of != madeUp || display.Type("Tally-RL") != "tally" {
		t.Error("it is not found by its names")
	}
}
