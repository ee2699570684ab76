package acl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/redis/commands"
)

// TestChannels checks channels by name and by pattern: a pattern has to be the user's own.
func TestChannels(t *testing.T) {
	s := newSelector(false)
	for _, rule := range []string{"&news.*", "&a"} {
		s.apply(rule)
	}
	for _, c := range []struct {
		channel   string
		isPattern bool
		want      bool
	}{
		{"news.1", false, true}, {"news", false, false}, {"a", false, true}, {"b", false, false},
		{"news.*", true, true}, {"news.1", true, false}, {"a", true, true}, {"*", true, false},
	} {
		if got := s.allowsChannel([]byte(c.channel), c.isPattern, nil); got != c.want {
			t.Errorf("%q (pattern: %v): %v", c.channel, c.isPattern, got)
		}
	}
}

// TestDelete takes the rights of a user that is still at work.
func TestDelete(t *testing.T) {
	users := New()
	if wrong := users.Set("bob", []string{"on", "nopass", "+@all", "~*", "&*"}); wrong != "" {
		t.Fatal(wrong)
	}
	bob, get := users.Login("bob", ""), [][]byte{[]byte("GET"), []byte("a")}
	if !bob.Unlimited() {
		t.Error("a user with all rights is limited")
	}
	users.Delete([]string{"bob", "bob", "nosuch", Default})
	if d := bob.Check(commands.Lookup("GET"), get); d.Reason != ByCommand {
		t.Errorf("a deleted user may GET: %v", d)
	}
	if users.Login("bob", "") != nil || users.Find("bob") != nil || users.Find(Default) == nil {
		t.Error("the wrong users are gone")
	}
}

// TestLog counts what is like one of the latest events, and keeps few and short ones.
func TestLog(t *testing.T) {
	var log Log
	log.SetMax(3)
	add := func(now int64, object string) {
		log.Add(now, Event{Reason: ByKey, Context: "toplevel", Object: object, User: "bob"})
	}
	add(0, "a")
	add(1000, "b")
	add(mergeWindowMs, "a")
	add(3*mergeWindowMs, "a") // too late to be the same
	add(3*mergeWindowMs, strings.Repeat("x", 1<<20))
	got := ""
	for _, e := range log.entries {
		got += fmt.Sprintf("%.1s %d×%d, ", e.Object, len(e.Object), e.count)
	}
	if want := "x 1024×1, a 1×1, a 1×2, "; got != want {
		t.Errorf("the log is %s, want %s", got, want)
	}
	if log.Refused(ByKey) != 5 || log.Refused(ByCommand) != 0 {
		t.Error("what was refused is counted wrongly")
	}
}

// TestTokens takes tokens apart, and what is none.
func TestTokens(t *testing.T) {
	users := New()
	users.Set("bob", []string{"on", ">p\x00q"})
	users.Set("open", []string{"on", "nopass"})
	for token, want := range map[string]bool{
		Token("bob", "p\x00q"): true, Token("bob", "p"): false, Token("bob", ""): false, Token("ann", "p\x00q"): false,
		Token("default", ""): false, Token("open", "x"): false, "": false, "x": false, "!": false, "Ym9i": false,
	} {
		if got := users.LoginByToken(token) != nil; got != want {
			t.Errorf("%q logs in: %v", token, got)
		}
	}
}

// BenchmarkUnlimited is what each command of a user with all rights costs.
func BenchmarkUnlimited(b *testing.B) {
	user := New().Default()
	for b.Loop() {
		if !user.Unlimited() {
			b.Fatal()
		}
	}
}

// BenchmarkCheck is a GET of a user with a pattern of keys.
func BenchmarkCheck(b *testing.B) {
	users := New()
	users.Set("bob", []string{"on", "+@read", "~cats:*"})
	user, get, args := users.Find("bob"), commands.Lookup("GET"), [][]byte{[]byte("GET"), []byte("cats:1")}
	for b.Loop() {
		if user.Check(get, args).Reason != Allowed {
			b.Fatal()
		}
	}
}
