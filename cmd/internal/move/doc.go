// Package move is shared by the verbs that move keys. It holds the flags that choose keys and change them
// (options.go), the sources and destinations of keys, a connection (source.go, sink.go) or a file (formats.go,
// input.go), and the report of the keys that could not be moved. Package transfer moves the keys themselves.
package move
