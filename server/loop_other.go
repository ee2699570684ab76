//go:build !linux

package server

import "context"

// loop is only for Linux; elsewhere each connection has a goroutine.
type loop struct{}

type looped struct{ fd int } // always 0

func (*Server) newLoop(context.Context) *loop { return nil }
func (*loop) takes(*client) bool              { return false }
func (*loop) wait()                           {}
