// Package counts records the cost of the most common commands on a file, in units independent
// of the machine: statements, write calls, bytes written, allocations.
package counts
