//go:build !linux

package server

import "context"

// loop exists only on Linux. Elsewhere each connection has a goroutine.
type loop struct{}

type loopState struct{ fd int }

func (*Server) newLoop(context.Context) *loop { return nil }
func (*loop) attach(*client) bool             { return false }
func (*loop) wait()                           {}
