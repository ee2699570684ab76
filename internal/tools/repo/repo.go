// Package repo finds the repository that a tool works on.
package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Enter changes the working directory to the repository's root. A tool runs with "go -C internal/tools run",
// which starts it in its own module; its arguments are paths from the root.
func Enter() {
	_, here, _, _ := runtime.Caller(0)
	if err := os.Chdir(filepath.Join(filepath.Dir(here), "..", "..", "..")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
