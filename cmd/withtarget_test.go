package cmd_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestReadingOnATerminal watches a command, measures and adds up as a person
// does.
func TestReadingOnATerminal(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := openScreen(t, size[0], size[1])
			s.check(s.Run("cd " + dir + " && meowdis exec -t t.sqlite HSET 'user:1' name Tom visits 1; clear; echo 'rea''dy'"))
			s.shows("ready")

			// watch takes the whole screen, shows the changes, and gives it back.
			s.check(s.Run("meowdis watch -t t.sqlite -i 0.05 HINCRBY user:1 visits 1"))
			screen, err := s.Wait("a count", func(text string) bool {
				lines := strings.Split(text, "\n")
				return strings.HasPrefix(lines[0], "every 0.05s  t.sqlite  HINCRBY user:1 visits 1") && strings.HasPrefix(lines[2], "(integer) 1") && len(lines[2]) > len("(integer) 1")
			})
			s.check(err)
			if strings.Contains(screen, "$ meowdis") {
				t.Errorf("the shell is still there:\n%s", screen)
			}
			_, err = s.Wait("a mark", func(string) bool {
				coloured, err := s.Coloured()
				s.check(err)
				return strings.Contains(coloured, "\x1b[7m")
			})
			s.check(err)
			s.check(s.Press("C-c"))
			s.shows("ready")
			s.ends("$")

			// stats fits, and is coloured unless that is not wanted.
			s.check(s.Run("clear; meowdis stats -t t.sqlite; echo 'in'' colour'"))
			s.shows("in colour")
			coloured, err := s.Coloured()
			s.check(err)
			if !strings.Contains(coloured, "\x1b[36m█") {
				t.Errorf("no colour:\n%s", coloured)
			}
			s.check(s.Run("clear; NO_COLOR=1 meowdis stats -t t.sqlite; echo 'with''out'"))
			s.shows("without")
			coloured, err = s.Coloured()
			s.check(err)
			if strings.Contains(coloured, "\x1b[36m") {
				t.Errorf("colour:\n%s", coloured)
			}

			// latency is live, until Ctrl-C.
			s.check(s.Run("clear; meowdis latency -t t.sqlite"))
			s.shows(" of 1")
			s.check(s.Press("C-c"))
			s.ends("$")

			// What could disturb the terminal is quoted.
			s.check(s.Run(`clear; printf 'SET "bad\\x1b[2Jname" v\n' | meowdis exec -t t.sqlite; meowdis keys -l -t t.sqlite`))
			s.shows(`"bad\x1b[2Jname"`)
			s.shows("TYPE           TTL                SIZE  KEY")
		})
	}
}
