// Package cmd is the command line: one file for each verb, with the verb's name. Only this package imports all the
// others and connects them.
//
// A verb parses its flags into an options struct. The struct's run method does the work on the streams that it is
// given. Start at Main and newRoot. Shared files:
//
//	streams.go            stdin, stdout, stderr and the terminal
//	flags.go, exit.go     errors of the command line, and exit codes
//	format.go             output formats of replies
//	confirm.go            questions before dangerous commands
//	suggest.go            hints about refused commands
//	withtarget.go, summary.go, listen.go
//	                      verbs that read keys, summarise them, or listen
//	move.go, destination.go
//	                      verbs that move keys, and verbs that write to a target
//	upkeep.go             verbs that check, pack and back up files
//	usage.go, topics.go   the layout of help, and the texts of meowdis help TOPIC
//
// cmd/internal/targets finds and opens targets, cmd/internal/script reads and runs scripts, cmd/internal/complete
// completes command lines, and cmd/internal/move moves keys.
package cmd
