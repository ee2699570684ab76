//go:build !linux

package server

// multiplexing is how sockets are waited for.
const multiplexing = "goroutines"

// What only Linux tells here.

func kernel() string         { return "" }
func systemMemory() uint64   { return 0 }
func residentMemory() uint64 { return 0 }

func openFiles() (n int, ok bool) { return 0, false }
