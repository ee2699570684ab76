package repl

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/internal/test/capture"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// waitFor waits until the screen has shown a text after the first from bytes, and returns the end of the text.
func waitFor(t *testing.T, screen *capture.Buffer, from int, want string) int {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; <-time.After(time.Millisecond) {
		text := ansi.Strip(screen.String())
		if i := strings.Index(text[from:], want); i >= 0 {
			return from + i + len(want)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q did not appear after:\n%s", want, text[from:])
		}
	}
}

// waitForRaw waits until the screen has shown a text or a control sequence.
func waitForRaw(t *testing.T, screen *capture.Buffer, want string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(screen.String(), want); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q did not appear in %q", want, screen.String())
		}
	}
}

// slowSession replies when the test allows it.
type slowSession struct {
	keyspace.Session
	let chan struct{}
}

func (s *slowSession) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	if string(args[0]) == "SCAN" {
		<-s.let
	}
	return s.Session.Do(ctx, args...)
}

// TestLateCompletion types while an answer is missing, and sees it in a menu when it arrives.
func TestLateCompletion(t *testing.T) {
	s := &slowSession{newSession(t, "SET key:1 v", "SET key:2 v"), make(chan struct{})}
	in, keys := io.Pipe()
	var out capture.Buffer
	done := make(chan error, 1)
	go func() {
		_, err := Run(context.Background(), Options{
			Target: Target{Session: s, Name: "db"}, Format: typedFormat, In: in, Out: &out, Err: &out, Terminal: true, NoHints: true,
		})
		done <- err
	}()
	io.WriteString(keys, "GET \tke")
	at := waitFor(t, &out, 0, "GET ke") // while the answer is missing
	close(s.let)
	io.WriteString(keys, "\t")
	at = waitFor(t, &out, at, "key:1  key:2")
	io.WriteString(keys, "2\r")
	waitFor(t, &out, at, `"v"`)
	keys.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// pagedIndex returns a page of names when the test allows it. The first page needs no permission.
type pagedIndex struct {
	pages [][]string
	let   chan struct{}
	asked atomic.Int32 // pages asked for
}

func (p *pagedIndex) FirstKeys(_ context.Context, prefix, from []byte, kind string, look int) (found resp.Value, next []byte, err error) {
	found = resp.EmptyMap
	if len(prefix) > 0 || look < maxKeysSeen {
		return found, nil, nil
	}
	n := 0
	if len(from) > 0 {
		n = int(from[0])
		<-p.let
	}
	p.asked.Add(1)
	for _, name := range p.pages[n] {
		found.Elems = append(found.Elems, resp.MakeString(name), resp.MakeString(kind))
	}
	if n+1 < len(p.pages) {
		next = []byte{byte(n + 1)}
	}
	return found, next, nil
}

func (p *pagedIndex) KeysOfType(context.Context, []byte, string, int) (found resp.Value, all bool, err error) {
	return resp.EmptyMap, false, nil
}

// searching starts an editor on the index, with a clock whose every look is an hour later. It returns the terminal's
// two ends, and a function that ends the input and returns the lines.
func searching(t *testing.T, index *pagedIndex) (keys io.Writer, screen *capture.Buffer, a *asker, end func() []string) {
	now := time.Unix(1_800_000_000, 0)
	target := Target{Session: newSession(t), Keys: index}
	a = &asker{target: target, now: func() time.Time { now = now.Add(time.Hour); return now }}
	in, typed := io.Pipe()
	screen = new(capture.Buffer)
	e, err := newEditor(t.Context(), &Options{Target: target, In: in, Out: screen, NoHints: true}, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { typed.Close(); e.Close() })
	lines := make(chan []string)
	go func() {
		var all []string
		for {
			text, err := e.read("db> ", "")
			if err != nil {
				lines <- all
				return
			}
			all = append(all, text)
		}
	}()
	return typed, screen, a, func() []string { typed.Close(); return <-lines }
}

// TestSearchContinues sees names in the menu that a search finds after its first answer.
func TestSearchContinues(t *testing.T) {
	index := &pagedIndex{pages: [][]string{{"user:1"}, {"user:2"}, {"user:3:zebra"}, {"user:4"}, {"a:zebra:4"}}, let: make(chan struct{})}
	keys, screen, _, end := searching(t, index)
	io.WriteString(keys, "GET zebra\t")
	at := waitFor(t, screen, 0, "looking …")
	io.WriteString(keys, "\t\f") // TAB again does not begin again; Ctrl-L shows that both were read
	waitForRaw(t, screen, "\x1b[2J")
	index.let <- struct{}{}
	index.let <- struct{}{}
	at = waitFor(t, screen, at, "user:3:zebra")
	at = waitFor(t, screen, at, "1, looking for more …")
	index.let <- struct{}{}
	index.let <- struct{}{}
	at = waitFor(t, screen, at, "a:zebra:4")
	io.WriteString(keys, "\t\r\r")
	if got := end(); !slices.Equal(got, []string{"GET a:zebra:4 "}) {
		t.Errorf("got %q", got)
	}
	if n := index.asked.Load(); n != 5 {
		t.Errorf("read %d pages", n)
	}
	if strings.Contains(ansi.Strip(screen.String())[at:], "looking") {
		t.Error("the search is over, and the menu says that it continues")
	}
}

// TestSearchThatFindsNothing says so at its end.
func TestSearchThatFindsNothing(t *testing.T) {
	index := &pagedIndex{pages: [][]string{{"user:1"}, {"user:2"}}, let: make(chan struct{})}
	keys, screen, _, end := searching(t, index)
	io.WriteString(keys, "GET zebra\t")
	at := waitFor(t, screen, 0, "looking …")
	index.let <- struct{}{}
	waitFor(t, screen, at, "no string key begins with zebra")
	end()
}

// TestSearchOfNarrowedMenu types while a menu is incomplete. The search for the longer text finds what the menu lacks.
func TestSearchOfNarrowedMenu(t *testing.T) {
	index := &pagedIndex{pages: [][]string{{"zebra:1", "a:zeb"}, {"zebra:22"}}, let: make(chan struct{})}
	keys, screen, _, end := searching(t, index)
	io.WriteString(keys, "GET eb\t")
	at := waitFor(t, screen, 0, "2, looking for more …")
	io.WriteString(keys, "r")
	at = waitFor(t, screen, at, "GET ebr")
	close(index.let)
	waitFor(t, screen, at, "zebra:22")
	io.WriteString(keys, "\t\t\r\r")
	if got := end(); !slices.Equal(got, []string{"GET zebra:22 "}) {
		t.Errorf("got %q", got)
	}
}

// TestSearchEnds ends a search whose text has changed, or whose menu was closed. Keys are handled while it reads.
func TestSearchEnds(t *testing.T) {
	for name, c := range map[string]struct{ keys, shows, line string }{
		"typed":  {"x", "GET zebrax", "GET zebrax"},
		"moved":  {"\x02x", "GET zebrxa", "GET zebrxa"},
		"run":    {"\r", "db> ", "GET zebra"},
		"chosen": {"\tx", "GET zebra:0 x", "GET zebra:0 x"},
		"closed": {"\a\f", "GET zebra", "GET zebra"}, // Ctrl-G closes the menu
		"listed": {"\x12", "zebra", "GET zebra"},     // Ctrl-R lists the history
	} {
		t.Run(name, func(t *testing.T) {
			index := &pagedIndex{pages: make([][]string, 100), let: make(chan struct{})}
			for i := range index.pages {
				index.pages[i] = []string{fmt.Sprintf("zebra:%d", i)}
			}
			keys, screen, a, end := searching(t, index)
			io.WriteString(keys, "GET zebra\t")
			at := waitFor(t, screen, 0, "1, looking for more …")
			io.WriteString(keys, c.keys)
			waitFor(t, screen, at, c.shows)
			close(index.let)
			a.mu.Lock() // after the search
			a.mu.Unlock()
			if n := index.asked.Load(); n > 2 {
				t.Errorf("read %d pages", n)
			}
			io.WriteString(keys, "\r\r")
			if got := end(); len(got) == 0 || got[0] != c.line {
				t.Errorf("got %q", got)
			}
		})
	}
}
