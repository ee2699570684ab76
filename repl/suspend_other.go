//go:build !unix

package repl

// suspend does nothing: there is no shell that could go on with the process.
func (e *editor) suspend() {}
