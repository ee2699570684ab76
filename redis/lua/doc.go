// Package lua runs Lua 5.1. It matches the reference implementation in everything that scripts can observe: the
// format of numbers, the order of pairs, and the texts of errors with the names of variables. It knows nothing
// about Redis.
//
// A chunk is parsed to a tree (parse.go), and the tree is compiled to Go closures (compile.go, call.go). A
// Program is a compiled chunk, which many states can run. A State has globals, a memory limit and an interrupt
// function; only one goroutine may use it at a time. The package has no io, no bytecode, and only the os
// functions that the embedder sets.
package lua
