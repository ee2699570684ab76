package inspect

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

func TestStartLoadsOnePageOnly(t *testing.T) {
	f := newFake().plain(20_000)
	s := browse(t, f, 80, 24)
	s.shows("20,000 keys", "key:00000", "1 of 500 loaded")
	if n := f.sent("SCAN"); n != 1 {
		t.Errorf("%d pages were asked for", n)
	}
	if n := f.sent("TYPE"); n > 24 {
		t.Errorf("%d keys were described for a screen of 24 lines", n)
	}
}

func TestScrollingLoadsMore(t *testing.T) {
	f := newFake().plain(2000)
	s := browse(t, f, 80, 24)
	for range 40 {
		s.press("pgdown")
	}
	s.shows("key:00720", "721 of 1,000 loaded")
	s.press("home")
	s.shows("key:00000")
}

func TestEndLoadsTheRest(t *testing.T) {
	f := newFake().plain(30_000)
	s := browse(t, f, 80, 24)
	s.press("end")
	s.shows("key:29999", "30,000 of 30,000")
	if n := f.sent("SCAN"); n > 10 {
		t.Errorf("%d pages: they should grow", n)
	}
}

func TestRefreshStaysInPlace(t *testing.T) {
	f := newFake().plain(3000)
	s := browse(t, f, 80, 24)
	for range 60 {
		s.press("pgdown")
	}
	before := s.screen()
	f.dbs[0] = slices.Insert(f.dbs[0], 0, fakeValue{key: "new", kind: "set", elems: []string{"a"}})
	s.press("r")
	selected := "▌ string key:01080"
	if !strings.Contains(before, selected) {
		t.Fatalf("the test expects another place:\n%s", before)
	}
	s.shows(selected, "3,001 keys")
}

// hang makes f answer nobody any more, and runs what the browser asks from then on
// in the background.
type hanging struct {
	*session
	done chan tea.Msg
	n    int
}

func hang(s *session) *hanging {
	s.fake.gate = make(chan struct{}, 1)
	return &hanging{session: s, done: make(chan tea.Msg, 100)}
}

func (h *hanging) press(key string) {
	msg, ok := namedKeys[key]
	if !ok {
		msg = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
	}
	h.send(msg)
}

func (h *hanging) send(msg tea.Msg) {
	_, cmd := h.model.Update(msg)
	h.start(cmd)
}

func (h *hanging) start(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	h.n++
	go func() { h.done <- cmd() }()
}

// finish takes in all that ends.
func (h *hanging) finish() {
	for ; h.n > 0; h.n-- {
		switch msg := (<-h.done).(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				h.start(c)
			}
		default:
			h.send(msg)
		}
	}
}

// tick lets the spinner turn.
func (h *hanging) tick(d time.Duration) {
	h.fake.clock.now += d.Milliseconds()
	h.send(spinMsg{})
}

func TestSlowTargetIsCancelled(t *testing.T) {
	s := browse(t, newFake().plain(2000), 80, 24)
	h := hang(s)
	h.press("G")
	h.tick(3 * time.Second)
	s.shows("scanning 3s", "key:00499")
	h.press("k")
	s.shows("499 of 500")
	h.press("esc")
	s.shows("Stopped.")
	s.hides("scanning")
	h.finish()
	if p, any := s.model.busy(); any {
		t.Errorf("%s still runs", purposeNames[p])
	}
	close(s.fake.gate)
	s.press("G")
	s.shows("of 1,000 loaded")
}

func TestSlowValueIsLeft(t *testing.T) {
	f := newFake().zoo()
	s := browse(t, f, 80, 24)
	h := hang(s)
	h.press("enter")
	h.tick(frame)
	h.tick(frame)
	s.shows("user:1", "loading…")
	h.press("esc")
	s.shows("TYPE   KEY")
	h.finish()
	close(f.gate)
	s.press("enter")
	s.shows("hash · 4 fields")
}

func TestLateAnswersAreDropped(t *testing.T) {
	f := newFake().zoo()
	s := browse(t, f, 80, 24)
	old := finished{scanning, s.model.jobs[scanning].id, pageMsg{keys: []string{"ghost"}}, nil}
	s.send(old)
	s.hides("ghost")
	s.model.cancelAll()
	s.send(finished{opening, 99, opened{key: "ghost", kind: "string"}, nil})
	s.hides("ghost")
}

func TestErrorsStandInTheStatusLine(t *testing.T) {
	f := newFake().zoo()
	s := browse(t, f, 100, 24)
	f.broken = errBroken
	s.press("r")
	s.shows("✗ connection refused", "user:1")
	sent := f.sent("")
	s.wait(10 * time.Second)
	if f.sent("") != sent {
		t.Error("a broken target is asked again and again")
	}
	f.broken = nil
	s.press("r")
	s.hides("✗")
	s.shows("user:1", "12 keys")
}

func TestErrorRepliesStandInTheStatusLine(t *testing.T) {
	f := newFake().zoo()
	f.refuse = map[string]string{"SCAN": "NOPERM this user may not\r\nrun 'scan'"}
	s := browse(t, f, 80, 24)
	s.shows(`✗ "NOPERM this user may not\r\nrun 'scan'"`, "Nothing was loaded", "13 keys")
}

func TestValueErrors(t *testing.T) {
	f := newFake().zoo()
	f.refuse = map[string]string{"HSCAN": "ERR no such thing"}
	s := browse(t, f, 120, 24)
	s.shows("✗ ERR no such thing", "not loaded", "▌ hash   user:1")
	s.press("j")
	s.shows("token-1")
	s.hides("✗")
}

func TestTooFewReplies(t *testing.T) {
	if _, err := newConn(short{}).one(context.Background(), 0, command("DBSIZE")); err != errReplies {
		t.Errorf("got %v", err)
	}
}

func TestValueThatGrewAndShrank(t *testing.T) {
	f := newFake().zoo()
	s := browse(t, f, 80, 24)
	s.press("j", "j", "j", "enter", "end")
	s.shows("250 of 250")
	f.dbs[0][3].elems = f.dbs[0][3].elems[:5]
	s.press("r")
	s.shows("▌", "of 5", "ann4@")
	f.dbs[0][3].kind = "set"
	s.press("r")
	s.shows("MEMBER", "set · 5 members")
	f.dbs[0] = slices.Delete(f.dbs[0], 3, 4)
	s.press("r")
	s.shows("gone", "ann4@")
}

func TestKeyWhoseLifeWasProlongedStays(t *testing.T) {
	f := newFake().zoo()
	s := browse(t, f, 80, 24)
	f.dbs[0][2].expires += 60_000
	s.wait(4 * time.Second)
	s.hides("gone")
	s.shows("session:2                                                59s")
}

func TestDatabases(t *testing.T) {
	f := newFake().zoo()
	s := browse(t, f, 100, 24)
	if f.sent("SELECT") > 0 {
		t.Error("SELECT was sent although no other database was looked at")
	}
	s.press("d")
	s.shows("13 keys", "3    1 key", "15")
	s.press("3", "enter")
	s.shows("db 3 · 1 key", "▌ string three", "1 byte")
	s.press("d", "0", "enter")
	s.shows("db 0 · 13 keys", "user:1")
}

func TestTargetWithOneDatabase(t *testing.T) {
	f := newFake().zoo()
	f.refuse = map[string]string{"SELECT": "ERR unknown command 'SELECT'"}
	s := browse(t, f, 80, 24)
	s.press("d")
	s.shows("0 13 keys")
	s.hides("│  1 ")
	s.press("enter", "r")
	s.shows("user:1", "13 keys")
}

func TestHugeStringComesInWindows(t *testing.T) {
	f := newFake()
	const size = 100 << 20
	largest := int64(0)
	f.bytes = func(from, to int64) ([]byte, int) {
		largest = max(largest, to-from)
		var part []byte
		for i := from / 16 * 16; i < min(to, size); i += 16 {
			part = fmt.Appendf(part, "line %010d\n", i/16)
		}
		return part[min(from%16, int64(len(part))):][:max(min(to, size)-from, 0)], size
	}
	f.add(fakeValue{key: "huge", kind: "string"})
	s := browse(t, f, 80, 24)
	s.press("enter")
	s.shows("string · 104,857,600 bytes", "line 0000000000")
	s.press("end")
	s.shows("line 0006553599", "100 MB of 100 MB · 100%")
	s.press("pgup")
	s.shows("line 0006553571")
	s.press("x")
	s.shows("hex", "063ff")
	s.press("end")
	s.shows("063ffff0")
	s.press("home")
	s.shows("00000000  6c 69 6e 65")
	if largest > windowSize+overlap {
		t.Errorf("%d bytes were asked for at once", largest)
	}
	if n := f.sent("GETRANGE"); n > 20 {
		t.Errorf("%d windows were asked for", n)
	}
}

func TestBigCollectionsComeInPages(t *testing.T) {
	f := newFake()
	var fields []string
	for i := range 20_000 {
		fields = append(fields, fmt.Sprintf("field:%d", i), "v")
	}
	f.add(fakeValue{key: "h", kind: "hash", elems: fields})
	s := browse(t, f, 80, 24)
	s.press("enter")
	s.shows("20,000 fields", "field:0", "1 of 20,000")
	if n := f.sent("HSCAN"); n > 2 {
		t.Errorf("%d pages for the first screen", n)
	}
	s.press("G")
	s.shows("100 of 20,000")
	s.press("end")
	s.shows("field:19999", "20,000 of 20,000")
	if n := len(s.model.value.sheet().pager.chunks); n > 10 {
		t.Errorf("%d chunks are in memory", n)
	}
	s.press("home", "G")
	s.shows("field:19999")
}

func TestRestingOpensTheValue(t *testing.T) {
	f := newFake().plain(100)
	s := browse(t, f, 120, 24)
	before := f.sent("GETRANGE")
	for range 20 {
		s.send(namedKeys["down"])
	}
	if f.sent("GETRANGE") != before {
		t.Error("values were opened in passing")
	}
	s.wait(settleTime)
	s.shows("value 20")
	if n := f.sent("GETRANGE") - before; n != 1 {
		t.Errorf("%d values were opened", n)
	}
}

func TestTypingSearchesWhenThePersonPauses(t *testing.T) {
	f := newFake().plain(100)
	s := browse(t, f, 80, 24)
	before := f.sent("SCAN")
	s.press("/")
	s.typing("key:0009")
	s.shows("/ key:0009▏", "key:00099", "1 of 10 found · searched all keys")
	if n := f.sent("SCAN") - before; n != 1 {
		t.Errorf("%d searches for a text typed at once", n)
	}
	s.press("down", "enter")
	s.shows("▌ string key:00091")
	s.press("/", "home", "delete", "end", "left", "backspace", "7", "right", "ctrl+w")
	s.shows("/ ▏")
}

func TestSearchShowsHowMuchWasLookedAt(t *testing.T) {
	s := browse(t, newFake().plain(5000), 80, 24)
	h := hang(s)
	h.press("/")
	for _, k := range []string{"0", "4", "9", "9", "9"} {
		h.press(k)
	}
	s.fake.gate <- struct{}{}
	h.send(pausedMsg(s.model.pauses))
	for msg := <-h.done; ; msg = <-h.done {
		h.n--
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, c := range batch {
				h.start(c)
			}
		}
		if f, ok := msg.(finished); ok {
			h.send(f)
			break
		}
	}
	s.shows("none found · searched 500 of 5,000 keys", "Looking…")
	s.model.cancelAll()
}

func TestPatterns(t *testing.T) {
	for filter, want := range map[string]string{"": "", "a": "*a*", `a\`: `*a\\*`, "a*": "a*", "?": "?", "[ab]x": "[ab]x"} {
		if got := (query{filter: filter}).pattern(); got != want {
			t.Errorf("%q: %q, want %q", filter, got, want)
		}
	}
}

func TestEveryBindingIsInTheHelp(t *testing.T) {
	s := browse(t, newFake().zoo(), 120, 50)
	s.press("?")
	for _, b := range bindings() {
		s.shows(b.help)
	}
	s.press("?")
	s.hides("this page")
}

func TestQuitting(t *testing.T) {
	for _, keys := range [][]string{{"q"}, {"enter", "q"}} {
		s := browse(t, newFake().zoo(), 80, 24)
		s.press(keys[:len(keys)-1]...)
		_, cmd := s.model.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q")})
		if msgs := results(cmd); !slices.ContainsFunc(msgs, func(m tea.Msg) bool { _, ok := m.(tea.QuitMsg); return ok }) {
			t.Errorf("%v does not quit", keys)
		}
	}
}

func TestNoSizeBreaksTheScreen(t *testing.T) {
	for _, width := range []int{1, 2, 9, 20, 39, 40, 60, 99, 100, 101, 200} {
		for _, height := range []int{1, 2, 3, 5, 6, 12, 50} {
			s := browse(t, newFake().zoo(), width, height)
			for _, keys := range [][]string{{"enter"}, {"x"}, {"esc"}, {"G"}, {"?"}, {"esc"}, {"d"}, {"esc"}, {"/", "é"}} {
				s.press(keys...)
				s.screen()
			}
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := Run(ctx, Options{Client: newFake(), In: &bytes.Buffer{}, Out: &bytes.Buffer{}})
	if err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func TestRunQuits(t *testing.T) {
	var out bytes.Buffer
	err := Run(context.Background(), Options{Client: newFake().zoo(), In: strings.NewReader("q"), Out: &out})
	if err != nil {
		t.Errorf("got %v", err)
	}
}
