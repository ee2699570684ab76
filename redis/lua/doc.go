// Package lua runs Lua 5.1 as the reference implementation does where scripts can
// see it: how numbers print, in which order pairs visits a table, what an error says
// and of which variable. It knows no Redis.
//
// A chunk is parsed to a tree (parse.go), and the tree is compiled to Go closures
// (compile.go, call.go). A Program is a compiled chunk, which many states can run; a
// State has globals, a limit of memory and a way to be interrupted, and is for one
// goroutine at a time. There is no io, no os but what the embedder sets, and no
// bytecode.
package lua
