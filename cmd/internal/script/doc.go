// Package script runs many commands: those of a script, whose replies are printed, and
// those that only load data and are counted.
//
// A Run takes them from a cmdfile.Reader and sends them to a session in batches. When it fails it reports
// the line, and the command line that continues there.
package script
