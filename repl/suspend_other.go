//go:build !unix

package repl

// suspend does nothing: this system cannot resume a stopped process.
func (e *editor) suspend() {}
