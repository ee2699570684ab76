// Package cmd is the command line: one file a verb, named as the verb, and the only place
// that knows every other package and wires them together.
//
// A verb parses its flags into an options struct, whose run method does the work on the
// streams that it is given. Start at Main and newRoot. What verbs share:
//
//	streams.go            stdin, stdout, stderr and the terminal
//	flags.go, exit.go     errors of the command line, and how a run ends
//	format.go             the forms that replies are printed in
//	confirm.go            questions before what a profile is careful about
//	suggest.go            what may have been meant by what was refused
//	withtarget.go, summary.go, listen.go
//	                      verbs that read keys, add them up, or listen
//	move.go, destination.go
//	                      verbs that move keys, and those that write to a target
//	upkeep.go             verbs that check, pack and back up files
//	usage.go, topics.go   help: its layout, and the texts of meowdis help TOPIC
//
// How targets are said and opened is cmd/internal/targets, how scripts are read and run is
// cmd/internal/script, completion is cmd/internal/complete, and cmd/internal/move is what the verbs
// that move keys are made of.
package cmd
