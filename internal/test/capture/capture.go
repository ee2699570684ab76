// Package capture collects what several goroutines and processes write.
package capture

import (
	"strings"
	"sync"
)

// Buffer holds everything that was written to it. Its zero value is empty.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds b. It never fails.
func (c *Buffer) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(b)
}

// String returns everything that was written so far.
func (c *Buffer) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}
