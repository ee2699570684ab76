package cmd

import "time"

// SetWriterLimit changes the time for which explain holds the writer's lock.
func SetWriterLimit(d time.Duration) { writerLimit = d }
