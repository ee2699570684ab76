package inspect

import (
	"bufio"
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

var update = flag.Bool("update", false, "write what the sessions show into their files")

// TestSessions plays the files of testdata. A line "> …" is a step: the words
// after it are keys, or one of "data NAME" ("shop" is a real store with an index), "size WxH", "type TEXT", "wait
// DURATION". Below it stands the screen after the step, each line behind "|".
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.session")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".session"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, want)
			switch {
			case *update:
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			case !bytes.Equal(got, want):
				t.Errorf("%s differs (write it with -update):\n%s", file, difference(want, got))
			}
		})
	}
}

// play takes the steps of a file and returns the file as it should be.
func play(t *testing.T, file []byte) []byte {
	var out bytes.Buffer
	var s *session
	var on Client
	f := newFake()
	on = f
	lines := bufio.NewScanner(bytes.NewReader(file))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "|") {
			continue
		}
		out.WriteString(line + "\n")
		step, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		word, rest, _ := strings.Cut(step, " ")
		switch word {
		case "data":
			if rest == "shop" {
				shop := newFile(t).shop()
				on, f = shop, shop.fake
				continue
			}
			f.load(t, rest)
			continue
		case "size":
			s = resized(t, s, on, f, rest)
		case "type":
			s.typing(rest)
		case "wait":
			d, err := time.ParseDuration(rest)
			if err != nil {
				t.Fatal(err)
			}
			s.wait(d)
		default:
			s.press(strings.Fields(step)...)
		}
		for line := range strings.SplitSeq(s.screen(), "\n") {
			out.WriteString(strings.TrimRight("|"+line, " ") + "\n")
		}
	}
	return out.Bytes()
}

func (f *fake) load(t *testing.T, name string) {
	switch name {
	case "zoo":
		f.zoo()
	case "plain":
		f.plain(3000)
	case "strict":
		f.zoo()
		f.refuse = map[string]string{}
		for _, name := range []string{"SCAN", "DBSIZE", "OBJECT", "MEMORY", "INFO"} {
			f.refuse[name] = "NOPERM this user has no permissions to run the '" + strings.ToLower(name) + "' command"
		}
	case "none":
	default:
		t.Fatalf("no data set %q", name)
	}
}

// resized starts a session, or changes the size of its screen.
func resized(t *testing.T, s *session, on Client, f *fake, size string) *session {
	w, h, _ := strings.Cut(size, "x")
	width, err1 := strconv.Atoi(w)
	height, err2 := strconv.Atoi(h)
	if err1 != nil || err2 != nil {
		t.Fatalf("no size: %q", size)
	}
	if s == nil {
		return browseOn(t, on, f, width, height)
	}
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	s.wait(2 * settleTime)
	return s
}

// difference is the first lines where two texts part.
func difference(want, got []byte) string {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "line " + strconv.Itoa(i+1) + "\nwant " + w[i] + "\ngot  " + g[i]
		}
	}
	return "one ends before the other"
}
