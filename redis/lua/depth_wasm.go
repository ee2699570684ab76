package lua

// maxDepth limits the depth of calls. A call in WebAssembly uses the stack of its host, which ends the program
// when it is full.
const maxDepth = 400
