// Package repo finds the repository that a tool works on.
package repo

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// Enter changes the working directory to the repository's root, which is above the working directory. A tool runs with
// "go -C internal/tools run", which starts it in its own module; its arguments are paths from the root.
func Enter() {
	dir, err := os.Getwd()
	for err == nil && !isRoot(dir) {
		above := filepath.Dir(dir)
		if above == dir {
			err = fmt.Errorf("no repository of meowdis contains the working directory")
		}
		dir = above
	}
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func isRoot(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && bytes.HasPrefix(text, []byte("module github.com/meowdis/meowdis\n"))
}
