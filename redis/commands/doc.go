// Package commands describes Redis commands: names, arity, flags, syntax, key positions and
// the shape of the reply. Each command is declared once, in the file of its group. Dispatch,
// COMMAND, HELP, completion and hints read this table. The command itself is a function of the
// same name in package translator, or of the session.
package commands
