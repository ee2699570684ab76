// Package repl is the interactive loop: a prompt that shows where commands go,
// with history, completion, argument hints and help.
//
// It is handed a session and does not know what kind of target that is. All that
// it knows about commands it reads from the translator's table. Start at Run.
package repl
