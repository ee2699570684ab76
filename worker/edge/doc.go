// Command edge is the engine as a Durable Object runs it: compiled to WebAssembly, inside the object,
// over the object's own SQLite. project/src/engine.js is the other side of what is imported and exported
// here.
//
// One instance serves all the objects of an isolate, since they share its memory; each has an engine.
// JavaScript calls handle for each request, which runs to its end without waiting: SQL is answered at
// once, so nothing comes in between.
package main

func main() {} // which never runs: the program is a library
