// Package move is what the verbs that move keys share: the flags that choose keys and say
// how they arrive (options.go), where keys come from and go to, be it a connection
// (source.go, sink.go) or a file of some format (formats.go, input.go), and the report on
// those that did not arrive as they should. The keys themselves are transfer's.
package move
