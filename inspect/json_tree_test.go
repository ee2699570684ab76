package inspect

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace/display"
)

// TestLargeJSON edits a value of a large document by its path, and undoes that.
func TestLargeJSON(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	var b strings.Builder
	b.WriteString(`{"users":[`)
	for i := range 60_000 {
		fmt.Fprintf(&b, `{"id":%d,"name":"user-%d","bio":"%s"},`, i, i, strings.Repeat("x", 60))
	}
	b.WriteString(`{"id":"last"}],"version":3}`)
	f.do("JSON.SET doc $ " + b.String())
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "enter")
	s.shows("JSON", `"users": [ 60,001 elements ],`, `"version": 3`)
	s.press("down", "enter", "down", "down", "enter", "down", "down", "enter")
	s.shows("[0 … 999]", "[1,000 … 1,999] (", `"name": "user-1001",`)
	s.press("down", "down", "e")
	s.shows(`["users"][1001]["name"]`, `"user-1001"`)
	s.press("ctrl+u")
	s.typing(`"Ann"`)
	s.press("enter")
	s.shows("Changed", `▌         "name": "Ann",`, "Press u to undo it.")
	if got := f.json("JSON.GET doc $.users[1000:1003].name"); got != `["user-1000","Ann","user-1002"]` {
		t.Errorf("the names are %s", got)
	}
	s.press("u")
	s.shows(`▌         "name": "user-1001",`)
	if got := f.json("JSON.GET doc"); got != b.String() {
		t.Error("undo did not restore the document")
	}
	s.press("/")
	s.typing("LAST")
	s.press("enter")
	s.shows("No other LAST from here.")
	s.press("/", "ctrl+u")
	s.typing(`last`)
	s.press("enter")
	s.shows(`▌         "id": "last"`)
}

// TestJSONChangesByLine edits, adds and deletes values of a small document by path.
func TestJSONChangesByLine(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	text := `{"name":"Tom","tags":["a","b"],"owner":{"name":"Ann","none":[]},"lives":9}`
	f.do("JSON.SET doc $ " + text)
	s := browseOn(t, f, f.fake, 80, 24)
	get := func(want string) {
		t.Helper()
		if got := f.json("JSON.GET doc"); got != want {
			t.Errorf("the document is %s, not %s", got, want)
		}
	}
	s.press("w", "enter", "down", "down", "down", "down", "e")
	s.shows(`["tags"][1] of doc`, `"b"`)
	s.press("ctrl+u")
	s.typing(`"c"`)
	s.press("enter")
	s.shows(`▌     "c"`, "Press u to undo it.")
	get(strings.Replace(text, `"b"`, `"c"`, 1))
	s.press("u")
	get(text)
	s.press("down", "down", "down", "d")
	s.shows(`Delete ["owner"]["name"] of doc?`)
	s.press("y")
	get(`{"name":"Tom","tags":["a","b"],"owner":{"none":[]},"lives":9}`)
	s.press("u", "a")
	s.shows("Select an object or an array to add to it.")
	s.press("down", "a")
	s.shows(`Add to ["owner"]["none"] of doc`)
	s.press("esc", "g", "e")
	s.shows("Edit doc", `"lives"`)
}

// TestLargeJSONChanges adds and deletes values of a large document by path, and undoes that.
func TestLargeJSONChanges(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	text := fmt.Sprintf(`{"tags":["a","b","c"],"owner":{"name":"Tom"},"bio":"%s"}`, strings.Repeat("x", 5<<20))
	f.do("JSON.SET doc $ " + text)
	s := browseOn(t, f, f.fake, 80, 24)
	get := func(path, want string) {
		t.Helper()
		if got := f.json("JSON.GET doc " + path); got != want {
			t.Errorf("%s is %s, not %s", path, got, want)
		}
	}
	s.press("w", "enter", "down", "enter", "down", "down", "d")
	s.shows(`Delete ["tags"][1] of doc?`, `JSON.DEL doc`)
	s.press("y")
	s.shows(`Deleted ["tags"][1] of doc`)
	get("$.tags", `[["a","c"]]`)
	s.press("u")
	get("$.tags", `[["a","b","c"]]`)
	s.press("g", "down", "a")
	s.shows(`Add to ["tags"] of doc`)
	s.typing("four")
	s.press("enter")
	s.shows("text needs quotes")
	s.press("ctrl+u")
	s.typing(`"four"`)
	s.press("enter")
	get("$.tags", `[["a","b","c","four"]]`)
	s.press("u")
	get("$.tags", `[["a","b","c"]]`)
	s.press("g", "a")
	s.typing("bio")
	s.press("tab")
	s.typing("1")
	s.press("enter")
	s.shows(`bio exists`)
	s.press("esc", "a")
	s.typing(`a"b"<c>`)
	s.press("tab")
	s.typing(`{"x":1}`)
	s.press("enter")
	get(`$["a\"b\"<c>"].x`, "[1]")
	s.press("u")
	if got := f.json("JSON.GET doc"); got != text {
		t.Error("undo did not restore the document")
	}
	s.press("G", "up", "a")
	s.shows("Select an object or an array to add to it.")
	s.press("d", "y")
	get("$.bio", "[]")
	s.press("u")
	if got := f.json("JSON.GET doc"); got != text {
		t.Error("undo did not restore the last member")
	}
}

// json returns the reply to a JSON.GET.
func (f *file) json(line string) string {
	f.t.Helper()
	v, err := f.session.Do(context.Background(), bytes.Fields([]byte(line))...)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(v.Str)
}

// TestBeginningOfLargeJSON shows the beginning of a document before the rest is read. Moves and folds act on it at
// once. Other keys wait for the whole document.
func TestBeginningOfLargeJSON(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	var b strings.Builder
	b.WriteString(`{"version":3,"users":[`)
	for i := range 5000 {
		fmt.Fprintf(&b, `{"id":%d,"name":"user-%d","bio":"%s"},`, i, i, strings.Repeat("x", 40))
	}
	b.WriteString(`{"id":"last"}],"text":"` + strings.Repeat("x", 9<<20) + `","title":"Big"}`)
	f.do("JSON.SET doc $ " + b.String())
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("w", "home")
	s.model.value.Leave()
	h := &hanging{session: s, done: make(chan tea.Msg, 100)}
	h.press("enter")
	for !s.model.value.IsReadingRest() {
		h.one()
	}
	s.shows("reading the rest", `"version": 3,`, `"users": [ … ]`, fmt.Sprintf("%s bytes", display.Grouped(int64(b.Len()))))
	s.hides("title")
	h.press("down")
	h.press("down")
	h.press("enter")
	s.shows(`▌   "users": [`, "[0 … 999]", "[1,000 … 1,999]", "…")
	h.press("up")
	h.press("e")
	s.hides("Edit")
	h.finish()
	s.hides("reading the rest")
	s.shows("Edit", `["version"]`)
	s.press("ctrl+u")
	s.typing("4")
	s.press("enter")
	s.shows(`▌   "version": 4,`, "[0 … 999]", "[5,000 … 5,000]", `"text": "xxx`)
	if got := f.json("JSON.GET doc $.version"); got != "[4]" {
		t.Errorf("the version is %s", got)
	}

	// The end waits for the end of the document.
	s.press("esc")
	s.model.value.Leave()
	h.press("enter")
	for !s.model.value.IsReadingRest() {
		h.one()
	}
	h.press("G")
	h.finish()
	s.shows(`"title": "Big"`, "▌ }")
}
