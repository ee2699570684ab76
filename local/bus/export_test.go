//go:build unix

package bus

import "time"

// Scan lists the directory and connects to the other processes.
func (n *Node) Scan() { n.scan() }

// SetPatience changes how long a node waits for other processes, and returns the previous value.
func SetPatience(d time.Duration) time.Duration {
	was := replyTimeout
	replyTimeout = d
	return was
}
