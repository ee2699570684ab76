// Command edge is the engine for a Durable Object: compiled to WebAssembly, it runs inside the object on the object's
// own SQLite. project/src/engine.js implements the imports and calls the exports.
//
// The objects of an isolate share its memory, so one instance serves them all, with an engine for each. JavaScript
// calls handle for each request. A call never waits, since SQL runs synchronously, so calls do not interleave.
package main

func main() {} // never runs: the program is a library
