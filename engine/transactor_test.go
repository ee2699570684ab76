package engine

import "github.com/meowdis/meowdis/local"

// The engine finds what a store can do by its methods. A changed signature must not hide one: without it the engine
// would fall back to compare-and-set, to polling or to one client at a time.
var _ interface {
	transactor
	limiter
	reader
	throttler
	concurrentReads
	expirer
	sweeper
	sharedFile
	followed
	groupStore
} = (*local.Store)(nil)
