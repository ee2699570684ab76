package translator

import (
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/store"
)

func plan(t *testing.T, env Env, words ...string) Plan {
	t.Helper()
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	c, bad := commands.Find(args)
	if c == nil {
		t.Fatalf("%q: %s", words, bad.Str)
	}
	return Translate(c, args, env)
}

func TestCursor(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    uint64
		ok   bool
	}{
		{"0", 0, true}, {"", 0, false}, {"42", 42, true}, {"+7", 7, true}, {"-1", 0, false}, {"-01", 1<<64 - 1, true}, {"007", 7, true},
		{"18446744073709551615", 1<<64 - 1, true}, {"18446744073709551616", 0, false},
		{" 1", 1, true}, {"1\x002", 1, true}, {"\x00", 0, false}, {"1 ", 0, false}, {"-", 0, false}, {"+-1", 0, false}, {"1_0", 0, false}, {"0x1", 0, false},
	} {
		if n, ok := parseCursor([]byte(tt.text)); ok != tt.ok || ok && n != tt.n {
			t.Errorf("%q: %d %v", tt.text, n, ok)
		}
	}
}

// TestScanPage checks that the cursor is the hash of the last examined row, that all rows with that hash are examined,
// and that the cursor is 0 after the last row.
func TestScanPage(t *testing.T) {
	row := func(hash int64, key, typ string, live int64) store.Row {
		return store.Row{store.Int(hash), store.Bytes([]byte(key)), store.String(typ), store.Int(live)}
	}
	rows := []store.Row{row(3, "a", "string", 1), row(5, "b", "list", 1), row(8, "c", "string", 0), row(9, "d", "string", 1), row(9, "e", "string", 1), row(11, "f", "string", 1)}
	for _, tt := range []struct {
		count, cursor string
		found         int
	}{{"1", "3", 1}, {"2", "5", 1}, {"3", "8", 1}, {"4", "9", 3}, {"5", "9", 3}, {"6", "0", 4}, {"100", "0", 4}} {
		p := plan(t, Env{}, "SCAN", "0", "COUNT", tt.count, "TYPE", "string")
		got := p.Decode(&store.Result{Rows: [][]store.Row{rows}})
		if string(got.Elems[0].Str) != tt.cursor || len(got.Elems[1].Elems) != tt.found {
			t.Errorf("COUNT %s: cursor %s, %d keys", tt.count, got.Elems[0].Str, len(got.Elems[1].Elems))
		}
	}
}

func TestTime(t *testing.T) {
	got := plan(t, Env{Now: 1_700_000_000_042}, "TIME").Reply
	if string(got.Elems[0].Str) != "1700000000" || string(got.Elems[1].Str) != "42000" {
		t.Errorf("%s %s", got.Elems[0].Str, got.Elems[1].Str)
	}
}
