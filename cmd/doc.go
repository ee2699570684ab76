// Package cmd is the command line: one file a verb, and the only place that knows
// every other package and wires them together.
//
// A verb parses its flags into an options struct, whose run method does the work
// on the streams that it is given. Start at Main; target.go says where commands
// go, exit.go what the exit codes mean.
package cmd
