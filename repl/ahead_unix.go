//go:build unix

package repl

import (
	"github.com/chzyer/readline"
	"golang.org/x/sys/unix"
)

// typedAhead reports whether the terminal has keys that were not read yet. select
// asks, since not every system's poll knows terminals.
var typedAhead = func() bool {
	var set unix.FdSet
	fd := readline.GetStdin()
	set.Set(fd)
	n, err := unix.Select(fd+1, &set, nil, nil, &unix.Timeval{})
	return err == nil && n > 0
}
