package pubsub_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/meowdis/meowdis/engine/pubsub"
)

// TestQueueIsBounded: a queue ends by the size of whole messages, names included.
func TestQueueIsBounded(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 1<<20)
	for name, m := range map[string]*pubsub.Message{
		"channel": {Kind: pubsub.Channel, Channel: long},
		"pattern": {Kind: pubsub.Pattern, Pattern: long},
		"payload": {Kind: pubsub.Channel, Payload: long},
	} {
		q := pubsub.NewQueue()
		for range 40 {
			q.Deliver(m)
		}
		if _, err := q.Next(); !errors.Is(err, pubsub.ErrFull) {
			t.Errorf("40 MB by the %s: %v", name, err)
		}
	}
}
