//go:build wasip1

package commands

// The Worker has no search (package translator), and no room for the texts of its commands.
var searchCommands, upstashCommands []Command
