//go:build !unix

package bus

import (
	"errors"

	"github.com/meowdis/meowdis/engine/pubsub"
)

// Node is a placeholder: the bus needs unix sockets.
type Node struct{}

// New does not connect the hub to other processes.
func New(string, *pubsub.Hub) *Node { return &Node{} }

// Join always fails.
func (*Node) Join(pubsub.Kind) error {
	return errors.New("this system has no unix sockets, which messages between processes need")
}

// Close does nothing.
func (*Node) Close() error { return nil }
