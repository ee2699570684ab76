//go:build wasip1 && !search

package commands

// The Worker has search (package translator), and the texts of its commands, only with the build tag search.
var searchCommands, upstashCommands []Command
