//go:build !linux

package server

import "context"

// loop exists only on Linux. Elsewhere each connection has a goroutine.
type loop struct{}

type looped struct{ fd int }

func (*Server) newLoop(context.Context) *loop { return nil }
func (*loop) takes(*client) bool              { return false }
func (*loop) wait()                           {}
