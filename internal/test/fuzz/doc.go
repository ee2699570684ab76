// Package fuzz compares meowdis with a real Redis on random commands.
//
// A case is a short sequence of commands on an empty database. The commands are generated from
// the Syntax of the command table (syntax.go, generate.go), so a new command is tested as soon
// as it is declared. Replies that are random, unordered or depend on time have an entry in the
// table of treatments.go. Every reply is compared, and at the end of a case the contents of
// all databases (contents.go), which must also pass doctor. Time passes on both sides
// (ageing.go), and meowdis sweeps one key or field between any two commands. Commands of
// connections and of the server run on a server of ours. TestCoverage reads all commands and
// options from Redis: options that are not generated must be in excluded or excludedOptions, with a
// reason. A case that differs is reduced to the fewest commands that still differ
// (minimise.go), and printed as a transcript with Redis's replies.
//
// TestLua compares random Lua programs (lua_program.go), built from the table of
// lua_templates.go. It reduces a program that differs to its necessary parts (lua_run.go).
//
//	go test ./internal/test/fuzz -run TestLua -programs 1000000     a long run
//	go test ./internal/test/fuzz                                    a short run, the same every time
//	go test ./internal/test/fuzz -run Differential/hash -for 10m    a long one of one group
//	go test ./internal/test/fuzz -run Differential/hash -seed 42    case 42 and later cases
package fuzz
