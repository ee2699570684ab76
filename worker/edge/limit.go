//go:build wasip1

package main

import (
	"runtime/metrics"
	"time"

	"github.com/meowdis/meowdis/store"
)

// maxWork limits the run time of the scripts of one request.
const maxWork = 5 * time.Second

// The clock of a deployed object stands still during a call, so the work of scripts is also estimated, by costs
// that were measured in workerd. An estimate of 5 s stands for 3 to 17 s.
const (
	costInterrupt = 30 * time.Microsecond // the steps between two calls of interrupt
	costStatement = 50 * time.Microsecond
	costObject    = 150 * time.Nanosecond // an allocation, and its collection
	costByte      = time.Nanosecond       // allocated
)

// work measures the current request.
var work struct {
	began     time.Time
	estimated time.Duration // without allocations
	allocated time.Duration // the cost of all allocations before the request
}

var allocations = []metrics.Sample{{Name: "/gc/heap/allocs:objects"}, {Name: "/gc/heap/allocs:bytes"}}

// allocated returns the cost of all allocations of this instance.
func allocated() time.Duration {
	metrics.Read(allocations)
	return costObject*time.Duration(allocations[0].Value.Uint64()) + costByte*time.Duration(allocations[1].Value.Uint64())
}

// beginWork starts the measurement for a request.
func beginWork() {
	work.began, work.estimated, work.allocated = time.Now(), 0, allocated()
}

// interrupt ends the script of a request that has worked for too long.
func interrupt() error {
	work.estimated += costInterrupt
	estimated := work.estimated + allocated() - work.allocated
	if max(estimated, time.Since(work.began)) > maxWork {
		return &store.TooLong{Limit: maxWork}
	}
	return nil
}
