//go:build !linux

package server

// multiplexing is the multiplexing_api of INFO.
const multiplexing = "goroutines"

// These are known on Linux only.

func kernel() string         { return "" }
func systemMemory() uint64   { return 0 }
func residentMemory() uint64 { return 0 }

func openFiles() (n int, ok bool) { return 0, false }
