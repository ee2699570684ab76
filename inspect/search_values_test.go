package inspect

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// needles puts a text into a value of every type, in places hard to find, and adds other keys.
func needles(t *testing.T, do func(words ...string) resp.Value) (holders []string) {
	t.Helper()
	must := func(words ...string) bool {
		v := do(words...)
		if v.IsError() && !strings.Contains(string(v.Str), "unknown command") {
			t.Fatal(words, string(v.Str))
		}
		return !v.IsError()
	}
	const text = "Find-ME"
	for i := range 120 {
		must("SET", fmt.Sprintf("plain:%03d", i), "nothing")
		must("HSET", fmt.Sprintf("user:%03d", i), "name", "Ann", "mail", "ann@example.com")
	}
	add := func(name string, words ...string) {
		if must(append([]string{words[0], name}, words[1:]...)...) {
			holders = append(holders, name)
		}
	}
	add("s:short", "SET", "a "+text+" b")
	add("s:window", "SETRANGE", fmt.Sprint(64<<10-3), text)
	add("s:large", "SETRANGE", fmt.Sprint(5<<20), text)
	add("s:base64", "SET", "eyJhIjoiRmluZC1NRSJ9") // {"a":"Find-ME"}
	for i := range 3000 {
		n := fmt.Sprintf("%05d", i)
		must("RPUSH", "l:many", n)
		must("SADD", "set:many", n)
		must("ZADD", "z:many", n, n)
		must("HSET", "h:many", n, n)
	}
	add("l:many", "RPUSH", text)
	add("set:many", "SADD", text)
	add("z:many", "ZADD", "77777", text)
	add("h:many", "HSET", "0", text)
	add("h:field", "HSET", text, "1")
	add("stream", "XADD", "1-1", "kind", text)
	add("doc", "JSON.SET", "$", `{"deep":[{"er":"`+text+`"}]}`)
	add("slots", "ARSET", "7", "x", text)
	return holders
}

// TestSearchInValues finds a text in values of every type, on a file and on a server.
func TestSearchInValues(t *testing.T) {
	race.Skip(t)
	t.Run("file", func(t *testing.T) {
		f := newFile(t)
		holders := needles(t, func(words ...string) resp.Value {
			v, err := f.session.Do(context.Background(), client.Command(words...)...)
			if err != nil {
				t.Fatal(err)
			}
			return v
		})
		if len(holders) != 12 {
			t.Errorf("only %q", holders)
		}
		searchesValues(t, f, f.fake, holders)
	})
	t.Run("server", func(t *testing.T) {
		conn := oracle.Start(t).Dial(t)
		holders := needles(t, func(words ...string) resp.Value { return conn.Do(client.Command(words...)...) })
		searchesValues(t, real{conn: conn}, newFake(), holders)
	})
}

func searchesValues(t *testing.T, c keyspace.Client, f *fake, holders []string) {
	b := &meddler{Client: c}
	s := browseOn(t, b, f, 80, 40)
	b.most = 0
	s.press("&")
	s.shows("Search in values", "in all keys")
	s.typing("find-me")
	s.press("enter")
	s.shows(fmt.Sprintf("1 of %d found", len(holders)), "searched all values", "values: find-me")
	s.shows(holders...)
	if b.most > 9<<20 {
		t.Errorf("%d bytes at once", b.most)
	}
	// The list of matches can be sorted and marked, and its values open at the text.
	s.press("s", "z", "enter")
	s.shows("ITEMS", fmt.Sprintf("1 of %d found", len(holders)))
	s.press("*")
	s.shows(fmt.Sprintf("%d keys", len(holders)))
	s.press("esc", "esc")
	s.press("/")
	s.typing("h:many")
	s.press("enter", "&")
	s.shows("in the keys of this list")
	s.typing("FIND-me")
	s.press("enter")
	s.shows("no match")
	s.press("&")
	for range "FIND-me" {
		s.press("backspace")
	}
	s.typing("Find-ME")
	s.press("enter", "enter", "n")
	s.shows("Find-ME", "0  ")
	s.press("esc", "esc")
	s.shows("h:many")
	s.hides("values:")
}

// TestSearchInValuesIsStopped stops and continues a search, and reports unreadable values.
func TestSearchInValuesIsStopped(t *testing.T) {
	race.Skip(t)
	f := newFake().plain(3000)
	f.add(fakeValue{key: "secret", kind: "hash", elems: []string{"a", "value 1"}})
	f.refuse = map[string]string{"HSCAN": "NOPERM no permissions to run the 'hscan' command"}
	b := &meddler{Client: f}
	s := browseOn(t, b, f, 80, 24)
	s.press("&")
	s.typing("value 29")
	h := hang(s)
	close(f.gate) // every page but the stopped one gets its reply
	pages, reached, goesOn := 0, make(chan bool), make(chan bool)
	b.before = func(calls [][][]byte) {
		if string(calls[0][0]) == "GETRANGE" {
			if pages++; pages == 20 {
				reached <- true
				<-goesOn
			}
		}
	}
	h.press("enter")
	for waiting := true; waiting; {
		select {
		case <-reached:
			waiting = false
		case msg := <-h.done:
			h.take(msg)
		}
	}
	h.tick(job.FrameTime)
	s.shows("scanning")
	h.press("esc")
	close(goesOn)
	h.finish()
	s.shows("Stopped", "value 29")
	s.press("down", "esc")
	s.hides("values: value 29")
	s.press("&")
	s.typing("value 29")
	s.press("enter")
	s.shows("1 of 111 found", "searched all values", "1 key not read")
	s.press("G")
	s.shows("111 of 111 found")
}
