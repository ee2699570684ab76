//go:build unix

package repl

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// suspend stops the process group until a shell resumes it, and then redraws the text. The
// system does not stop the group if no shell could resume it.
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
