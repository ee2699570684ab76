// Package counts holds what each of the commonest commands costs on a file, in what does
// not depend on the machine's mood: statements, write calls, bytes written, allocations.
package counts
