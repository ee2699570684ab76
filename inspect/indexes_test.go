package inspect

import (
	"context"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/redis/resp"
)

// indexed fills f with search indexes and their documents.
func (f *file) indexed() {
	for _, line := range []string{
		"FT.CREATE goods PREFIX 1 item: SCHEMA name TEXT WEIGHT 2 kind TAG price NUMERIC SORTABLE",
		"HSET item:1 name 'red shoes' kind shoe price 50", "HSET item:2 name 'blue hat' kind hat price 15",
		"HSET item:3 name 'red hat' kind hat price 20", "HSET item:4 name socks kind sock price 3", "SET other 1",
		"SEARCH.CREATE books ON HASH PREFIX 1 book: SCHEMA title TEXT year U64 FAST", "HSET book:1 title Emma year 1815",
		"HSET book:2 title Persuasion year 1817", "SEARCH.WAITINDEXING books",
	} {
		args, err := resp.SplitLine(line)
		if err != nil {
			f.t.Fatal(line, err)
		}
		if v, err := f.session.Do(context.Background(), args...); err != nil || v.IsError() {
			f.t.Fatalf("%s: %v %s", line, err, v.Str)
		}
	}
}

// TestIndexes lists keys by a query of an index, with other filters and orders, on a file and on a server.
func TestIndexes(t *testing.T) {
	race.Skip(t)
	for _, where := range []string{"file", "server"} {
		t.Run(where, func(t *testing.T) {
			f := newFile(t)
			f.indexed()
			on := f.fake
			if where == "server" {
				on = newFake()
			}
			s := browseOn(t, f, on, 80, 24)
			s.press("I")
			s.shows("Search indexes", "books", "goods", "2 documents", "4 documents")
			s.typing("goods")
			s.press("enter")
			s.shows("Index goods", "hashes", "item:", "NUMERIC", "SORTABLE", "WEIGHT 2", "documents")
			s.press("esc")
			s.shows("Search indexes")
			s.press("enter", "/")
			s.shows("Query of goods")
			s.typing("@price:[10 60]")
			s.press("enter")
			s.shows("goods: @price:[10 60]", "1 of 3 found", "item:1", "item:2", "item:3")
			s.hides("item:4", "book:1", "other")
			// Other filters and orders apply to the found keys.
			s.press("/")
			s.typing("item:2")
			s.press("enter")
			s.shows("1 of 1 found", "item:2")
			s.press("/")
			for range "item:2" {
				s.press("backspace")
			}
			s.press("enter")
			s.shows("1 of 3 found")
			s.press("s", "b", "enter")
			s.shows("1 of 3 found", "item:1")
			s.press("&")
			s.typing("shoes")
			s.press("enter")
			s.shows("1 of 1 found", "values: shoes", "item:1")
			s.press("esc")
			s.shows("other")
			s.hides("goods: ")
			// A wrong query says so, and one that finds nothing as well.
			s.press("I", "down", "enter", "/")
			s.typing("@nope:[1 2]")
			s.press("enter")
			s.shows("nope")
			s.press("esc", "I", "down", "enter", "/")
			s.typing("nothing")
			s.press("enter")
			s.shows("No match")
			// The keys that a query found can be marked, and a change is seen after a refresh.
			s.press("I", "down", "enter", "/")
			for range "nothing" {
				s.press("backspace")
			}
			s.press("enter", "*")
			s.shows("goods: all", "Marked 4 keys.")
			f.do("HSET item:5 name gloves")
			s.press("R")
			s.shows("of 5 found")
		})
	}
}

// TestNoIndexes opens the list of indexes on targets without any, in another database, and without the right to read them.
func TestNoIndexes(t *testing.T) {
	race.Skip(t)
	f := newFake().plain(3)
	f.refuse = map[string]string{"FT._LIST": "ERR unknown command", "SEARCH.LISTINDEXES": "ERR unknown command"}
	s := browse(t, f, 80, 24)
	s.press("I")
	s.shows("The target has no search indexes.")
	s.model.keys.DB = 3
	s.press("I")
	s.shows("Search indexes cover database 0.")
	f = newFake().plain(3)
	f.refuse = map[string]string{"SEARCH.LISTINDEXES": "ERR unknown command"}
	f.answers = map[string]resp.Value{
		"FT._LIST": resp.MakeArray(resp.MakeString("shut")), "FT.INFO shut": resp.MakeError("NOPERM no permissions to run the 'ft.info' command"),
	}
	s = browse(t, f, 80, 24)
	s.press("I")
	s.shows("shut", "?")
	s.press("enter")
	s.shows("NOPERM")
}
