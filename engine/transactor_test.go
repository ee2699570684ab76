package engine

import "github.com/meowdis/meowdis/local"

// A file must not fall back to compare-and-set.
var _ transactor = (*local.Store)(nil)
