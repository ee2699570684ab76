//go:build !wasm

package lua

// maxDepth is how many calls may be under way, as in the reference implementation.
const maxDepth = 16384
