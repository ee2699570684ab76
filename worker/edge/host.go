//go:build wasip1

package main

import "unsafe"

// What JavaScript does for us, on the object whose call runs.

// hostText says which SQL a number stands for from now on.
//
//go:wasmimport env text
func hostText(number int32, sql string)

// hostExec runs a statement with encoded arguments, and returns the length of the result, which hostTake
// copies. A result of more than room bytes is refused.
//
//go:wasmimport env exec
func hostExec(number int32, args unsafe.Pointer, n int32, room float64) int32

//go:wasmimport env take
func hostTake(into unsafe.Pointer)

// hostTransact calls inside in a transaction, which commits when that returns 1. It returns 1 when it is
// committed, 0 when inside wanted it undone, and else -n, when it failed with a reason of n bytes for
// hostTake.
//
//go:wasmimport env transact
func hostTransact() int32

// hostHead begins the response: its status and headers, "name: value" a line.
//
//go:wasmimport env head
func hostHead(status int32, headers string)

// hostBody is the next piece of the response.
//
//go:wasmimport env body
func hostBody(piece unsafe.Pointer, n int32)

// hostSend is the next piece of a stream.
//
//go:wasmimport env send
func hostSend(stream int32, piece unsafe.Pointer, n int32)

// hostEnd ends a stream whose client does not read.
//
//go:wasmimport env end
func hostEnd(stream int32)

// inbox is where JavaScript writes what a call is about.
var inbox []byte

// room makes the inbox n bytes long.
//
//go:wasmexport room
func room(n int32) unsafe.Pointer {
	inbox = make([]byte, n)
	return unsafe.Pointer(unsafe.SliceData(inbox))
}

// pending is what inside is to run: transactions nest.
var pending []func() bool

// inside runs what a transaction is about.
//
//go:wasmexport inside
func inside() int32 {
	fn := pending[len(pending)-1]
	if fn() {
		return 1
	}
	return 0
}

// within runs fn in a transaction, which commits when fn returns true.
func within(fn func() bool) error {
	pending = append(pending, fn)
	n := hostTransact()
	pending = pending[:len(pending)-1]
	if n < 0 {
		return failure(string(taken(-n)))
	}
	return nil
}

// taken is what JavaScript has for us.
func taken(n int32) []byte {
	b := make([]byte, n)
	hostTake(unsafe.Pointer(unsafe.SliceData(b)))
	return b
}
