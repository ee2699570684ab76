//go:build unix

package repl

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// suspend stops the process group until a shell goes on with it, and draws the text
// again then. Where no shell could, the system does not stop it.
func (e *editor) suspend() {
	p := e.picture()
	e.screen.finish(p, "")
	io.WriteString(e.screen.out, disableBracketedPaste)
	e.rl.Terminal.ExitRawMode()
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	if syscall.Kill(0, syscall.SIGTSTP) == nil {
		select {
		case <-resumed:
		case <-time.After(100 * time.Millisecond): // not stopped
		}
	}
	e.rl.Terminal.EnterRawMode()
	io.WriteString(e.screen.out, enableBracketedPaste)
}
