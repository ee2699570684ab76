// Package script runs many commands: those of a script, whose replies are printed, and
// those that only load data and are counted.
//
// A Reader takes them from lines in redis-cli's quoting, or from the Redis protocol. A
// Run sends them to a session in batches, and says where it broke off, and how to go on.
package script
