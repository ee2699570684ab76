package engine

import (
	"testing"

	"github.com/meowdis/meowdis/engine/pubsub"
)

// TestManyMessages: a script is stopped before the empty messages that it publishes fill the memory.
func TestManyMessages(t *testing.T) {
	e := &evaluation{session: New(nil).Session()}
	for range maxDeferred / 32 {
		if e.publish(pubsub.Channel, [][]byte{nil, nil, nil}).IsError() {
			return
		}
	}
	t.Errorf("%d messages are kept", len(e.deferred.messages))
}
