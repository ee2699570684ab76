// Package mcptools offers a target to coding agents, as tools of the Model Context Protocol that list, search and
// read keys, explain the SQL of a command, and run commands.
//
// Calls to the target run one at a time, each within its time limit. Each call stands alone: it leaves neither a
// transaction nor another database selected. The result of a tool is bounded, and says what was cut and how to
// continue. Only a server with Writes set has a tool that changes keys. It asks the client's user to confirm
// dangerous commands.
package mcptools
