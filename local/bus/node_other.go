//go:build !unix

package bus

import (
	"errors"

	"github.com/meowdis/meowdis/engine/pubsub"
)

// Node is a process's part in the bus of a file, which this system has not.
type Node struct{}

// New leaves the hub alone.
func New(string, *pubsub.Hub) *Node { return &Node{} }

// Join cannot be.
func (*Node) Join(pubsub.Kind) error {
	return errors.New("this system has no sockets that processes could share beside the file")
}

// Close does nothing.
func (*Node) Close() error { return nil }
