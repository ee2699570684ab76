// Package termprobe keeps the terminal from being asked anything while the program
// starts.
//
// bubbletea asks for the colour of the background as soon as it is linked in,
// whatever the program is about to do: that costs every command a round trip,
// eats what was typed ahead, and takes five seconds where the terminal does not answer. A dumb
// terminal is not asked. Go initialises those packages first whose imports are
// ready, in the order of their paths: this one, which imports os alone, comes
// before golang.org/x/sys, which bubbletea waits for.
package termprobe

import "os"

var term, had = os.LookupEnv("TERM")

func init() { os.Setenv("TERM", "dumb") }

// Restore gives the terminal its name back. It is called before anything else.
func Restore() {
	if had {
		os.Setenv("TERM", term)
	} else {
		os.Unsetenv("TERM")
	}
}
