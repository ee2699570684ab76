// Package fuzz compares meowdis with a real Redis on random commands.
//
// A case is a short sequence of commands on an empty database. The commands are
// made from the Syntax of the command table (syntax.go, generate.go), so that a
// new command joins by being declared; what is legitimately random, unordered or
// a matter of time has a line in the table of treatments.go. Every reply is
// compared, and at the end of a case all that the databases hold (contents.go), in which
// doctor must find nothing wrong. Time is made to pass on both sides (ageing.go), and
// meowdis sweeps one key or field between any two commands.
// The commands of connections and of the server run on a server of ours.
// TestCoverage asks Redis for all its commands and options, and holds those that
// are not made up against leftOut and undrawn, which say why. A case that differs
// is cut down to the fewest commands that still do
// (minimise.go), and printed as a transcript with Redis's replies.
//
// TestLua compares random Lua programs (lua_program.go), whose parts are in the table of
// lua_templates.go. It removes from a program that differs whatever it can (lua_run.go).
//
//	go test ./internal/test/fuzz -run TestLua -programs 1000000     a long run
//	go test ./internal/test/fuzz                                    a short run, the same every time
//	go test ./internal/test/fuzz -run Differential/hash -for 10m    a long one of one group
//	go test ./internal/test/fuzz -run Differential/hash -seed 42    the case 42, and what follows
package fuzz
