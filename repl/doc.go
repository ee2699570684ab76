// Package repl is the interactive prompt, with history, completion, argument hints and help.
//
// It gets a session and does not know what kind of target that is. It knows commands only
// from the command table. Start at Run.
package repl
