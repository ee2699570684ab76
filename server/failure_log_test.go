package server

import (
	"testing"
	"time"
)

// TestComplaints logs a repeated failure once and again after a while, and a different failure at once.
func TestComplaints(t *testing.T) {
	var c failureLog
	at := time.Now()
	for i, step := range []struct {
		says   string
		after  time.Duration
		unsaid int
		is     bool
	}{
		{"moved", 0, 0, true}, {"moved", time.Second, 0, false}, {"moved", time.Second, 0, false},
		{"full", 0, 0, true}, {"full", time.Second, 0, false}, {"full", failureLogInterval, 1, true}, {"full", 0, 0, false},
		{"moved", 0, 0, true},
	} {
		at = at.Add(step.after)
		if unsaid, is := c.shouldLog(step.says, at); unsaid != step.unsaid || is != step.is {
			t.Errorf("step %d: %d, %v", i, unsaid, is)
		}
	}
}
