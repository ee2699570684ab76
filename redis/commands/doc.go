// Package commands says what Redis commands are, apart from what they do: names,
// arity, flags, syntax, where the keys are and the shape of the reply. Each is declared once, in the file
// of its group; dispatch, COMMAND, HELP, completion and hints read this table. What
// a command does is a function of its name in package translator, or of the session.
package commands
