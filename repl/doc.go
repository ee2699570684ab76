// Package repl is the interactive loop: a prompt that shows where commands go,
// with history, completion, argument hints and help.
//
// It is handed a session and knows nothing about what stands behind it. All that
// it knows about commands it reads from the translator's table. Start at Run.
package repl
