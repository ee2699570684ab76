// Package mcptools offers a target to coding agents: tools of the Model Context Protocol that list,
// search and read keys, show what SQL a command means, and run commands.
//
// Calls come one at a time to the target, each within its time limit, and each stands alone: none
// leaves a transaction or another database behind. What a tool returns is bounded, and says what was
// cut and how to go on. Only a server that Writes has a tool that changes keys; what is dangerous
// then wants a person's yes, whom the client asks.
package mcptools
