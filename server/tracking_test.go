package server_test

import "testing"

// TestTracking compares what clients that keep keys are told with redis-server.
func TestTracking(t *testing.T) { playSchedules(t, "testdata/tracking.txt") }
