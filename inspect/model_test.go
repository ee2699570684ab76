package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/meowdis/meowdis/inspect/job"
	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
)

func TestStartDescribesOneScreenOnly(t *testing.T) {
	race.Skip(t)
	f := newFake().plain(20_000)
	s := browse(t, f, 80, 24)
	s.shows("20,000 keys", "key:", "20,000 keys")
	if n := f.sent("SCAN"); n > 8 {
		t.Errorf("%d pages were asked for", n)
	}
	if n := f.sent("TYPE"); n > 24+100 { // and the sample of the overview
		t.Errorf("%d keys were described for a screen of 24 lines", n)
	}
}

func TestScrolling(t *testing.T) {
	race.Skip(t)
	f := newFake().plain(2000)
	s := browse(t, f, 80, 24)
	s.press("`")
	for range 40 {
		s.press("pgdown")
	}
	s.shows("key:00400", "401 of 2,000")
	s.press("home")
	s.shows("▌ key:00000", "1 of 2,000")
	s.press("end")
	s.shows("▌ key:01999", "2,000 of 2,000")
	if n := s.model.keys.Loaded(); n > 1000 {
		t.Errorf("%d rows are in memory", n)
	}
}

func TestScansPause(t *testing.T) {
	race.Skip(t)
	f := newFake().plain(120_000)
	s := browse(t, f, 100, 24)
	s.shows("scanned 10", "paused, + continues", "+ scan on")
	s.press("+")
	s.hides("paused")
	s.shows("120,000 keys")
}

func TestRefreshStaysInPlace(t *testing.T) {
	race.Skip(t)
	f := newFake().plain(3000)
	s := browse(t, f, 80, 24)
	s.press("`")
	for range 60 {
		s.press("pgdown")
	}
	selected := "▌ key:00600"
	s.shows(selected)
	f.dbs[0] = slices.Insert(f.dbs[0], 0, fakeValue{key: "a new one", kind: "set", elems: []string{"a"}})
	s.press("R")
	s.shows(selected, "3,001 keys")
	s.press("home")
	s.shows("▌ a new one", "1 of 3,001")
}

func TestErrorsStandInTheStatusLine(t *testing.T) {
	race.Skip(t)
	f := newFake().zoo()
	s := browse(t, f, 100, 24)
	s.choose("user:1")
	f.broken = errBroken
	s.press("R")
	s.shows("✗ connection refused", "user:1")
	sent := f.sent("")
	s.wait(10 * time.Second)
	if f.sent("") != sent {
		t.Error("a broken target is asked again and again")
	}
	f.broken = nil
	s.press("R")
	s.hides("✗")
	s.shows("user:1", "12 keys")
}

func TestErrorRepliesStandInTheStatusLine(t *testing.T) {
	race.Skip(t)
	f := newFake().zoo()
	f.refuse = map[string]string{"SCAN": "NOPERM this user may not\r\nrun 'scan'"}
	s := browse(t, f, 80, 24)
	s.shows(`✗ "NOPERM this user may not\r\nrun 'scan' (press o to open a key by name)"`, "SCAN is refused: o opens a key", "13 keys")
	s.press("o")
	s.typing("user:1")
	s.press("enter")
	s.shows("hash · 4 fields", "Ann")
}

func TestValueErrors(t *testing.T) {
	race.Skip(t)
	f := newFake().zoo()
	f.refuse = map[string]string{"HSCAN": "ERR no such thing "} // Redis ends some errors with a space
	s := browse(t, f, 120, 24)
	s.choose("user:1")
	s.shows("✗ ERR no such thing", "not loaded", "▌ user:1")
	s.press("k")
	s.shows("red")
	s.hides("✗")
}

func TestValueThatGrewAndShrank(t *testing.T) {
	race.Skip(t)
	f := newFake().zoo()
	s := browse(t, f, 80, 24)
	s.choose("queue:jobs")
	s.press("enter", "end")
	s.shows("250 of 250")
	f.dbs[0][3].elems = f.dbs[0][3].elems[:5]
	s.press("R")
	s.shows("▌", "of 5", "ann4@")
	f.dbs[0][3].kind = "set"
	s.press("R")
	s.shows("MEMBER", "set · 5 members")
	f.dbs[0] = slices.Delete(f.dbs[0], 3, 4)
	s.press("R")
	s.shows("gone", "ann4@")
}

func TestKeyWhoseLifeWasProlongedStays(t *testing.T) {
	race.Skip(t)
	f := newFake().zoo()
	s := browse(t, f, 80, 24)
	s.choose("session:2")
	f.dbs[0][2].expires += 60_000
	s.wait(4 * time.Second)
	s.hides("gone")
	s.shows("session:2                                   string     59s")
}

func TestDatabases(t *testing.T) {
	race.Skip(t)
	f := newFake().zoo()
	s := browse(t, f, 100, 24)
	if f.sent("SELECT") > 0 {
		t.Error("SELECT was sent although no other database was looked at")
	}
	s.press("0")
	s.shows("13 keys", "3    1 key", "15")
	s.press("3", "enter")
	s.shows("db 3 · 1 key", "▌   three", "1 byte")
	s.press("0", "0", "enter")
	s.shows("db 0 · 13 keys", "▸ user:")
}

func TestTargetWithOneDatabase(t *testing.T) {
	race.Skip(t)
	f := newFake().zoo()
	f.refuse = map[string]string{"SELECT": "ERR unknown command 'SELECT'"}
	s := browse(t, f, 80, 24)
	s.press("0")
	s.shows("0 13 keys")
	s.hides("│  1 ")
	s.press("enter", "R")
	s.shows("▸ session:", "13 keys")
}

func TestHugeStringComesInWindows(t *testing.T) {
	race.Skip(t)
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
	s.press("f")
	s.shows("hex", "063ff")
	s.press("end")
	s.shows("063ffff0")
	s.press("home")
	s.shows("00000000  6c 69 6e 65")
	if largest > 64<<10+3 {
		t.Errorf("%d bytes were asked for at once", largest)
	}
	if n := f.sent("GETRANGE"); n > 20 {
		t.Errorf("%d windows were asked for", n)
	}
}

func TestBigCollectionsComeInPages(t *testing.T) {
	race.Skip(t)
	f := newFake()
	var fields []string
	for i := range 20_000 {
		fields = append(fields, fmt.Sprintf("field:%d", i), "v")
	}
	f.add(fakeValue{key: "h", kind: "hash", elems: fields})
	s := browse(t, f, 80, 18)
	s.press("enter")
	s.shows("20,000 fields", "field:0", "1 of 20,000")
	if n := f.sent("HSCAN"); n > 2 {
		t.Errorf("%d pages for the first screen", n)
	}
	s.press("end")
	s.shows("field:19999", "20,000 of 20,000")
	if n, _ := s.model.value.Loaded(); n > 10 {
		t.Errorf("%d chunks are in memory", n)
	}
	s.press("home", "G")
	s.shows("field:19999")
}

func TestRestingOpensTheValue(t *testing.T) {
	race.Skip(t)
	f := newFake().plain(100)
	s := browse(t, f, 120, 24)
	s.choose("key:00000")
	before := f.sent("GETRANGE")
	for range 20 {
		s.send(namedKeys["down"])
	}
	if f.sent("GETRANGE") != before {
		t.Error("values were opened in passing")
	}
	s.wait(ui.SettleTime)
	s.shows("value 20")
	if n := f.sent("GETRANGE") - before; n != 1 {
		t.Errorf("%d values were opened", n)
	}
}

func TestTypingSearchesWhenThePersonPauses(t *testing.T) {
	race.Skip(t)
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
	s.shows("▌ key:00091")
	s.press("/", "home", "delete", "end", "left", "backspace", "7", "right", "ctrl+w")
	s.shows("/ ▏")
}

func TestSearchShowsHowMuchWasLookedAt(t *testing.T) {
	s := browse(t, newFake().plain(5000), 80, 24)
	h := hang(s)
	for _, key := range []string{"/", "0", "4", "9", "9", "9", "enter"} {
		h.press(key)
	}
	s.fake.gate <- struct{}{} // one page of the scan
	for range 50 {
		if strings.Contains(s.screen(), "Loading…") {
			break
		}
		h.one()
	}
	s.shows("no match · scanned 500 of 5,000 keys", "Loading…")
	close(s.fake.gate)
	h.finish()
	s.press("j")
	s.shows("▌ key:04999", "searched all keys")
}

func TestLettersThatComeTogether(t *testing.T) {
	race.Skip(t)
	s := browse(t, newFake().plain(100), 80, 24)
	s.choose("key:00000")
	s.press("jjj")
	s.shows("▌ key:00003")
	s.press("/009")
	s.shows("/ 009▏", "1 of 11 found")
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("j"), Alt: true})
	s.wait(ui.SettleTime)
	s.shows("all keys", "▌ key:00010") // key:00009 was found before it
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjq"), Paste: true})
	s.shows("▌ key:00010")
	s.press("/")
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("key:\n0001"), Paste: true})
	s.shows("/ key:0001▏")
}

func TestEveryBindingIsInTheHelp(t *testing.T) {
	race.Skip(t)
	s := browse(t, newFake().zoo(), 120, 120)
	s.press("?")
	left, right := sheet()
	rows := append(left, right...)
	for _, r := range rows {
		s.shows(r.text)
	}
	for _, b := range bindings() {
		if !s.model.onSheet(b, rows) {
			s.shows(b.help)
		}
	}
	s.press("?")
	s.hides("this help")
}

func TestQuitting(t *testing.T) {
	race.Skip(t)
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
	race.Skip(t)
	for _, width := range []int{1, 2, 9, 20, 39, 40, 60, 99, 100, 101, 200} {
		for _, height := range []int{1, 2, 3, 5, 6, 12, 50} {
			f := newFake().zoo()
			f.options = func(o *Options) { o.Unlock = func(context.Context) (keyspace.Client, error) { return f, nil } }
			s := browse(t, f, width, height)
			for _, keys := range [][]string{{"enter"}, {"f"}, {"esc"}, {"G"}, {"?"}, {"esc"}, {"0"}, {"esc"}, {"O"}, {"esc"}, {"i"}, {"esc"}, {":", "é"}, {"esc"}, {"@log"}, {"esc"},
				{"y"}, {"esc"}, {"s"}, {"esc"}, {"w", "a"}, {"enter"}, {"esc"}, {"d"}, {"esc"}, {"/", "é"}} {
				s.press(keys...)
				s.screen()
			}
		}
	}
}

// TestEveryOverlayClosesWithEsc also checks that every hint of a dialog is a key that the mouse can
// press.
func TestEveryOverlayClosesWithEsc(t *testing.T) {
	race.Skip(t)
	const open = "a d r x > y : i O ? e t s o 0 /"
	for _, width := range []int{40, 120} {
		f := newFile(t).shop()
		s := browseOn(t, f, f.fake, width, 24)
		s.choose("cart")
		s.press("w")
		for _, where := range []string{"keys", "value"} {
			if where == "value" {
				s.press("enter")
			}
			for key := range strings.FieldsSeq(open) {
				if where == "value" && strings.Contains("t s 0 o", key) || where == "keys" && key == "e" {
					continue
				}
				s.press(key)
				if s.model.Dialog == nil && !s.model.keys.IsTyping() {
					t.Errorf("%s in the %s opens nothing:\n%s", key, where, s.screen())
				}
				for _, h := range s.model.fittingHints() {
					if _, ok := keyOf(h.sign); !ok {
						t.Errorf("%s in the %s: a click on the hint %q does nothing", key, where, h.sign)
					}
				}
				s.press("esc")
				if s.model.Dialog != nil || s.model.keys.IsTyping() {
					t.Fatalf("%s in the %s: esc leaves it open:\n%s", key, where, s.screen())
				}
			}
		}
	}
}

// TestEscapesTogether checks two Esc that arrive as one key over a slow line.
func TestEscapesTogether(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 80, 24)
	s.choose("events")
	s.press("w", "enter", "]")
	s.shows("GROUP")
	s.press("enter", "]")
	s.shows("CONSUMER", "worker")
	s.send(tea.KeyMsg{Type: tea.KeyEsc, Alt: true})
	s.shows("KEY", "a add")
	if s.model.InValue {
		t.Error("the value has the focus")
	}
}

// TestEscapeEndsTheFilter presses Esc while numbers on the screen are still loading.
func TestEscapeEndsTheFilter(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	s := browseOn(t, f, f.fake, 80, 24)
	s.press("/")
	s.typing("user")
	s.press("enter")
	s.model.Start(job.MeasuringFolder, nil)
	s.model.Frame = 1
	s.press("esc")
	s.hides("Stopped")
	if s.model.keys.HasFilter() {
		t.Error("the filter is still there")
	}
}
