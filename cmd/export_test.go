package cmd

import "time"

// SetWriterLimit changes the time for which explain holds the writer's lock.
func SetWriterLimit(d time.Duration) { writerLimit = d }

// SetWaits changes the time for which completion waits for a target, in the shell and at the prompt.
func SetWaits(target, lookup time.Duration) { defaultWaits = waits{target, lookup} }
