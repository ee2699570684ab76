// Package script runs many commands: a script, whose replies are printed, or a load, whose replies are counted.
//
// A Run reads commands from a cmdfile.Reader and sends them to a session in batches. If it fails, it reports the
// line, and the command line that continues there.
package script
