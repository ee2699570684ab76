package translator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

func TestKeysWithPrefix(t *testing.T) {
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx := context.Background()
	s := engine.New(file, engine.WithClock(func() int64 { return 1000 })).Session()
	for _, key := range []string{"a", "b", "ba", "bb", "b\xff", "b\xff\xffz", "c", "\xff", "\xff\xff"} {
		if _, err := s.Do(ctx, []byte("SET"), []byte(key), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Do(ctx, []byte("SET"), []byte("bc"), []byte("v"), []byte("PXAT"), []byte("2000")); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]string{
		"": "a b ba bb", "b": "b ba bb b\xff", "ba": "ba", "b\xff": "b\xff b\xff\xffz", "\xff": "\xff \xff\xff", "\xff\xff": "\xff\xff", "d": "",
	} {
		results, err := file.Apply(ctx, []store.Batch{{ReadOnly: true, Stmts: []store.Stmt{translator.KeysWithPrefix(translator.Env{Now: 3000}, []byte(prefix), 4)}}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range results[0].Rows[0] {
			got = append(got, string(row[0].Bytes()))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
}
