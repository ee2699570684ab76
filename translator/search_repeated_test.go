package translator_test

import (
	"context"
	"testing"

	"github.com/meowdis/meowdis/store/sweep"
)

// TestRepeatedNumbers has an array with a number twice: an index has it once, before and after a slice indexes the key.
// newClient's check compares the rows with the keys.
func TestRepeatedNumbers(t *testing.T) {
	c := newClient(t)
	c.expect("FT.CREATE f ON JSON PREFIX 1 d: SCHEMA $.n AS n NUMERIC", "+OK",
		"SEARCH.CREATE s ON JSON PREFIX 1 d: SCHEMA n F64 FAST", ":1",
		`JSON.SET d:1 $ {"n":[5,2,5,-0.0,0]}`, "+OK")
	for _, after := range []string{"the write", "indexing"} {
		t.Log(after)
		c.expect("FT.SEARCH f @n:[5,5] NOCONTENT DIALECT 2", "%5 $10 attributes *0 $6 format $6 STRING $7 results *1 %2 $2 id $3 d:1 $6 values *0 $13 total_results :1 $7 warning *0",
			`SEARCH.AGGREGATE s {} {"a":{"$sum":{"field":"n"}}}`, "%1 $1 a %1 $5 value ,7",
			`SEARCH.QUERY s {} NOCONTENT ORDERBY n`, "*1 *2 $3 d:1 ,0")
		if _, err := sweep.Slice(context.Background(), c.store.Apply, c.now, 100); err != nil {
			t.Fatal(err)
		}
	}
}
