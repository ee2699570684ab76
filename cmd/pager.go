package cmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// page shows text that is longer than the screen in a pager, $PAGER or less. It
// returns false when the text is yet to be shown: it is short, or there is no
// pager.
func (s *streams) page(text []byte) bool {
	width, height, err := s.size()
	if err != nil || !longer(text, width, height) {
		return false
	}
	words := strings.Fields(firstOf(s.getenv("PAGER"), "less"))
	run := exec.Command(words[0], words[1:]...)
	run.Stdin, run.Stdout, run.Stderr = bytes.NewReader(text), s.screen, s.errScreen
	if s.getenv("LESS") == "" {
		run.Env = append(os.Environ(), "LESS=FRX") // colours, and no screen of its own
	}
	if err := run.Start(); err != nil {
		fmt.Fprintf(s.err, "meowdis: no pager: %v\n", err)
		return false
	}
	_ = run.Wait() // leaving a pager in the middle is no failure
	return true
}

// longer reports whether text and the prompt behind it take more than a screen.
func longer(text []byte, width, height int) bool {
	lines := 1
	for line := range bytes.Lines(text) {
		lines += 1 + max(0, ansi.StringWidth(string(line))-1)/max(width, 1)
		if lines > height {
			return true
		}
	}
	return false
}
