//go:build unix

package repl

import (
	"time"

	"github.com/chzyer/readline"
	"golang.org/x/sys/unix"
)

// typedAhead reports whether the terminal has unread input, and waits for it up to wait. It
// uses select, since poll does not support terminals on every system.
var typedAhead = func(wait time.Duration) bool {
	var set unix.FdSet
	fd := readline.GetStdin()
	set.Set(fd)
	limit := unix.NsecToTimeval(int64(wait))
	n, err := unix.Select(fd+1, &set, nil, nil, &limit)
	return err == nil && n > 0
}
