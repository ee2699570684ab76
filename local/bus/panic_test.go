//go:build unix

package bus_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/meowdis/meowdis/engine/pubsub"
)

// faulty is a subscriber that panics once.
type faulty struct{ done atomic.Bool }

func (f *faulty) Deliver(*pubsub.Message) {
	if f.done.CompareAndSwap(false, true) {
		panic("injected")
	}
}

// TestPanickingSubscriber makes a subscriber panic while a process answers another process: the log has the stack, and
// the next message arrives.
func TestPanickingSubscriber(t *testing.T) {
	var log bytes.Buffer // written before the publisher gets its reply
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	file := filepath.Join(t.TempDir(), "a.sqlite")
	listens, publishes := begin(t, file), begin(t, file)
	ear := listens.listen(t, pubsub.Channel, "other")
	f := &faulty{}
	listens.hub.Subscribe(f, pubsub.Channel, []byte("news"))
	if n := publishes.publish("news", "1"); n != 0 || !f.done.Load() {
		t.Errorf("%d subscribers have the first message", n)
	}
	// The publisher connects again when it lists the directory.
	for publishes.publish("other", "2") == 0 {
		publishes.node.Scan()
	}
	ear.wait(t, 1)
	if n := publishes.publish("news", "3"); n != 1 {
		t.Errorf("%d subscribers have the third message", n)
	}
	listens.node.Close() // waits for the goroutine that logs
	if text := log.String(); strings.Count(text, "panic=injected") != 1 || strings.Count(text, "stack=") != 1 {
		t.Errorf("the log says %s", text)
	}
}
