package lua

// maxDepth is how many calls may be under way: a call of WebAssembly takes the stack of its host, which
// ends the program where it is full.
const maxDepth = 400
