// Package termprobe keeps bubbletea from querying the terminal while the program starts.
//
// bubbletea queries the background colour in its init function, for every command. That costs a round trip, discards
// what the user has typed ahead, and takes five seconds if the terminal does not reply. It does not query a dumb
// terminal. Go initialises packages in the order of their paths once their imports are initialised. This package
// imports only os, so it runs before golang.org/x/sys, which bubbletea depends on.
package termprobe

import "os"

var term, had = os.LookupEnv("TERM")

func init() { os.Setenv("TERM", "dumb") }

// Restore restores TERM. Main calls it first.
func Restore() {
	if had {
		os.Setenv("TERM", term)
	} else {
		os.Unsetenv("TERM")
	}
}
