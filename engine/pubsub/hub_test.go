package pubsub_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/resp"
)

// ear is a subscriber that keeps its messages.
type ear struct {
	mu   sync.Mutex
	told []string
	wire [][]byte
}

func (e *ear) Deliver(m *pubsub.Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = append(e.told, strings.Join([]string{string(m.Pattern), string(m.Channel), string(m.Payload)}, " "))
	e.wire = append(e.wire, m.Wire(true))
}

func b(s string) []byte { return []byte(s) }

// TestOrderOfMessages publishes from several goroutines: all subscribers get the messages in the same order,
// and each publisher's messages in its own order.
func TestOrderOfMessages(t *testing.T) {
	h := pubsub.New()
	ears := []*ear{{}, {}, {}}
	for _, e := range ears {
		h.Subscribe(e, pubsub.Channel, b("x"))
	}
	var publishers sync.WaitGroup
	for p := range 4 {
		publishers.Go(func() {
			for i := range 500 {
				if n := h.Publish(pubsub.Channel, b("x"), fmt.Appendf(nil, "%d %04d", p, i)); n != 3 {
					t.Errorf("a message reached %d of 3", n)
				}
			}
		})
	}
	publishers.Wait()
	for _, e := range ears {
		if !slices.Equal(e.told, ears[0].told) || len(e.told) != 2000 {
			t.Fatalf("one was told %d messages, or others, or otherwise", len(e.told))
		}
	}
	for p := range 4 {
		var own []string
		for _, m := range ears[0].told {
			if strings.HasPrefix(m, fmt.Sprintf(" x %d ", p)) {
				own = append(own, m)
			}
		}
		if !slices.IsSorted(own) {
			t.Errorf("the messages of publisher %d are out of order", p)
		}
	}
}

// TestManySubscribers encodes a message once for ten thousand subscribers.
func TestManySubscribers(t *testing.T) {
	h := pubsub.New()
	ears := make([]*ear, 10_000)
	for i := range ears {
		ears[i] = &ear{}
		h.Subscribe(ears[i], pubsub.Channel, b("x"))
	}
	if n := h.Publish(pubsub.Channel, b("x"), b("hi")); n != 10_000 {
		t.Errorf("it reached %d", n)
	}
	for _, e := range ears {
		if &e.wire[0][0] != &ears[0].wire[0][0] {
			t.Fatal("a message was encoded twice")
		}
		h.Leave(e)
	}
	if n := h.Topics(); n != (pubsub.Counts{}) {
		t.Errorf("nobody listens, and there are %v", n)
	}
}

// TestManyPatterns matches ten thousand patterns in the order in which they were subscribed to.
func TestManyPatterns(t *testing.T) {
	h, e := pubsub.New(), &ear{}
	for i := range 10_000 {
		if n := h.Subscribe(e, pubsub.Pattern, fmt.Appendf(nil, "*%d", i)); n[pubsub.Pattern] != i+1 {
			t.Fatalf("%v subscriptions after %d", n, i+1)
		}
	}
	if n := h.Publish(pubsub.Channel, b("x1234"), b("hi")); n != 4 {
		t.Errorf("it met %d patterns", n)
	}
	if want := []string{"*4 x1234 hi", "*34 x1234 hi", "*234 x1234 hi", "*1234 x1234 hi"}; !slices.Equal(e.told, want) {
		t.Errorf("told %q, want %q", e.told, want)
	}
	if names := h.Names(e, pubsub.Pattern); len(names) != 10_000 || string(names[7]) != "*7" {
		t.Errorf("%d names, the eighth %q", len(names), names[7])
	}
	h.Leave(e)
	if n := h.Publish(pubsub.Channel, b("x1234"), b("hi")); n != 0 || len(h.Names(e, pubsub.Pattern)) != 0 {
		t.Errorf("somebody who left was told")
	}
}

// TestOthers counts the subscribers of several processes together.
func TestOthers(t *testing.T) {
	here, there, e := pubsub.New(), pubsub.New(), &ear{}
	here.SetPeers(pubsub.Peers{
		Ask:     func(args [][]byte, _ bool) []resp.Value { return []resp.Value{there.Answer(args)} },
		Watched: there.Watched,
		Show:    func(line []byte) { there.Answer(pubsub.ShowCall(line)) },
		Join:    func(pubsub.Kind) error { return nil },
	})
	for _, name := range []string{"a", "b"} {
		there.Subscribe(e, pubsub.Channel, b(name))
	}
	other := &ear{}
	here.Subscribe(other, pubsub.Channel, b("b"))
	here.Subscribe(other, pubsub.Pattern, b("*"))
	there.Subscribe(e, pubsub.Pattern, b("*"))
	there.Subscribe(e, pubsub.Shard, b("b"))
	if n := here.Publish(pubsub.Channel, b("b"), b("hi")); n != 4 {
		t.Errorf("it reached %d of 4", n)
	}
	if n := here.Receivers(pubsub.Channel, b("b")); n != 4 {
		t.Errorf("%d of 4 listen", n)
	}
	if n := here.Publish(pubsub.Shard, b("b"), b("hi")); n != 1 {
		t.Errorf("it reached %d of 1", n)
	}
	for words, want := range map[string]string{
		"PUBSUB CHANNELS":         `[b a]`,
		"PUBSUB CHANNELS [a]":     `[a]`,
		"PUBSUB NUMSUB b c":       `[b 2 c 0]`,
		"PUBSUB NUMPAT":           `1`,
		"PUBSUB SHARDCHANNELS":    `[b]`,
		"PUBSUB SHARDNUMSUB b a ": `[b 1 a 0]`,
	} {
		var args [][]byte
		for _, word := range strings.Fields(words) {
			args = append(args, b(word))
		}
		v, ok := here.Info(string(args[1]), args, nil)
		if got := plain(v); got != want || !ok {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
	steps := 0
	here.Info("CHANNELS", [][]byte{b("PUBSUB"), b("CHANNELS"), b("*b")}, func(n int) {
		steps += n
		here.Receivers(pubsub.Channel, b("b")) // it does not hold the lock
	})
	if steps == 0 {
		t.Error("matching takes no steps")
	}
	if here.Watched() {
		t.Error("nobody watches the commands")
	}
	there.Subscribe(e, pubsub.Commands, nil)
	if !here.Watched() {
		t.Error("somebody watches the commands")
	}
	here.Show(b("a line"))
	if last := e.told[len(e.told)-1]; last != "  a line" {
		t.Errorf("they saw %q", last)
	}
}

func plain(v resp.Value) string {
	switch v.Kind {
	case resp.Int:
		return fmt.Sprint(v.Int)
	case resp.Bulk:
		return string(v.Str)
	}
	var all []string
	for _, e := range v.Elems {
		all = append(all, plain(e))
	}
	return "[" + strings.Join(all, " ") + "]"
}
