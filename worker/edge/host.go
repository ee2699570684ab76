//go:build wasip1

package main

import (
	"unsafe"

	"github.com/meowdis/meowdis/store"
)

// Imports from JavaScript. They act on the object of the current call.

// hostText assigns a number to a SQL text.
//
//go:wasmimport env text
func hostText(number int32, sql string)

// hostExec runs a statement with encoded arguments and returns the length of the result, which hostTake copies. It
// refuses a result of more than room bytes.
//
//go:wasmimport env exec
func hostExec(number int32, args unsafe.Pointer, n int32, room float64) int32

//go:wasmimport env take
func hostTake(into unsafe.Pointer)

// hostTransact calls inside in a transaction, which commits if inside returns 1. It returns 1 after the commit, 0 if
// inside rolled it back, and -n after a failure whose message of n bytes hostTake copies.
//
//go:wasmimport env transact
func hostTransact() int32

// hostHead starts the response with its status and headers, one "name: value" a line.
//
//go:wasmimport env head
func hostHead(status int32, headers string)

// hostBody sends the next piece of the response.
//
//go:wasmimport env body
func hostBody(piece unsafe.Pointer, n int32)

// hostSend sends the next piece of a stream.
//
//go:wasmimport env send
func hostSend(stream int32, piece unsafe.Pointer, n int32)

// hostEnd ends a stream whose client does not read.
//
//go:wasmimport env end
func hostEnd(stream int32)

// inbox holds the input of a call. JavaScript writes it.
var inbox []byte

// room allocates the inbox with n bytes.
//
//go:wasmexport room
func room(n int32) unsafe.Pointer {
	inbox = make([]byte, n)
	return unsafe.Pointer(unsafe.SliceData(inbox))
}

// pending stacks the bodies of nested transactions for inside.
var pending []func() bool

// thrown holds a panic of inside, which must not cross JavaScript. transact continues it.
var thrown error

// inside runs the body of the innermost transaction. A panic rolls it back.
//
//go:wasmexport inside
func inside() int32 {
	defer store.Catch(&thrown)
	if pending[len(pending)-1]() {
		return 1
	}
	return 0
}

// transact runs fn in a transaction, which commits when fn returns true.
func transact(fn func() bool) error {
	pending = append(pending, fn)
	n := hostTransact()
	pending = pending[:len(pending)-1]
	if err := thrown; err != nil {
		thrown = nil
		panic(err)
	}
	if n < 0 {
		return failure(string(take(-n)))
	}
	return nil
}

// take copies n bytes from JavaScript.
func take(n int32) []byte {
	b := make([]byte, n)
	hostTake(unsafe.Pointer(unsafe.SliceData(b)))
	return b
}
