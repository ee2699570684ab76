//go:build !wasm

package lua

// maxDepth limits the depth of calls, as in the reference implementation.
const maxDepth = 16384
