package remote

import "time"

// WithoutWaiting makes r try again at once.
func WithoutWaiting(r *REST) { r.waitBefore = func(int) time.Duration { return 0 } }
