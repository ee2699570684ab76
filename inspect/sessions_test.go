package inspect

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/klauspost/compress/zstd"

	"github.com/meowdis/meowdis/inspect/ui"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
)

var update = flag.Bool("update", false, "write what the sessions show into their files")

// TestSessions plays the files of testdata. A line "> …" is a step, played at all screen sizes that ">
// sizes" lists. Its words are keys, or one of
//
//	data NAME   the data set: see browsed
//	size WxH    resizes the screen
//	type TEXT   types letter by letter
//	wait TIME
//	click X Y   also wheel up X Y and wheel down X Y, counted from the corner
//	other LINE  a command of another client
//
// The screen after the step follows, for each size, with each line after "|".
func TestSessions(t *testing.T) {
	race.Skip(t)
	played := map[string]map[string]string{} // by session and size
	for _, name := range sessionNames(t) {
		t.Run(name, func(t *testing.T) {
			file := sessionFile(name)
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			got, played[name] = replay(t, want)
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
	for _, c := range capabilities {
		for _, size := range []string{"40x12", "80x24", "200x50"} {
			screens, ok := played[c.session][size]
			for _, text := range c.shows {
				if !ok || !strings.Contains(screens, text) {
					t.Errorf("%s, %s: the session %s at %s never shows %q", c.bullet, c.what, c.session, size, text)
				}
			}
		}
	}
}

func sessionNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(sessionFile("*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".session")
	}
	return files
}

func sessionFile(name string) string { return filepath.Join("testdata", name+".session") }

// script is the steps of a session with the comments between them, and its sizes.
type script struct {
	lines []string
	sizes []string
}

func readScript(file []byte) (s script) {
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(strings.TrimPrefix(line, "> "), " ")
		if word == "sizes" {
			s.sizes = strings.Fields(rest)
		}
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ">") {
			s.lines = append(s.lines, line)
		}
	}
	return s
}

// replay plays a session's script at each of its sizes. It returns the file with the actual screens,
// and all screens by size.
func replay(t *testing.T, file []byte) (written []byte, seen map[string]string) {
	t.Helper()
	s := readScript(file)
	if len(s.sizes) == 0 {
		t.Fatal(`there is no line "> sizes …"`)
	}
	var screens [][]string
	seen = map[string]string{}
	for _, size := range s.sizes {
		at := play(t, s.lines, size)
		screens, seen[size] = append(screens, at), strings.Join(at, "\n")
	}
	var out bytes.Buffer
	before := make([]string, len(s.sizes))
	for i, line := range s.lines {
		out.WriteString(line + "\n")
		for j, size := range s.sizes {
			if screens[j][i] == "" {
				continue
			}
			if len(s.sizes) > 1 {
				out.WriteString(size + "\n")
			}
			writeScreen(&out, screens[j][i], before[j])
			before[j] = screens[j][i]
		}
	}
	return out.Bytes(), seen
}

// writeScreen writes a screen. Repeated lines, and lines unchanged since before, are written as a
// number.
func writeScreen(out *bytes.Buffer, screen, before string) {
	const few = 3
	lines, old := strings.Split(screen, "\n"), strings.Split(before, "\n")
	for i := 0; i < len(lines); {
		kept, same := 0, 1
		for i+kept < min(len(lines), len(old)) && lines[i+kept] == old[i+kept] {
			kept++
		}
		for i+same < len(lines) && lines[i+same] == lines[i] {
			same++
		}
		switch {
		case kept >= few:
			fmt.Fprintf(out, "  %d lines as before\n", kept)
			i += kept
		case same >= few:
			fmt.Fprintf(out, "  %d lines |%s\n", same, strings.TrimRight(lines[i], " "))
			i += same
		default:
			out.WriteString(strings.TrimRight("|"+lines[i], " ") + "\n")
			i++
		}
	}
}

// play runs the steps on a screen of a size and returns the screen after each; "" for a line that is
// not a step.
func play(t *testing.T, lines []string, size string) []string {
	t.Helper()
	screens := make([]string, len(lines))
	on := newFile(t)
	var client keyspace.Client = on.fake
	var s driven
	for i, line := range lines {
		step, ok := strings.CutPrefix(line, "> ")
		word, rest, _ := strings.Cut(step, " ")
		switch {
		case !ok || word == "sizes":
			continue
		case word == "data" && rest == "tabs": // two files in tabs
			width, height := dimensions(t, size)
			s = inTabs(t, width, height, "a.db", "b.db")
		case word == "data" && rest == "compared": // two files in tabs that differ
			width, height := dimensions(t, size)
			s = inDifferingTabs(t, width, height)
		case word == "data":
			client = browsed(t, on, rest)
			width, height := dimensions(t, size)
			s = browseOn(t, client, on.fake, width, height)
		default:
			takeStep(s, on, word, rest)
		}
		screens[i] = fileFacts.ReplaceAllStringFunc(s.screen(), func(size string) string {
			return digits.ReplaceAllString(size, "#")
		})
	}
	return screens
}

// fileFacts matches what each new table of the schema changes: sessions record "#" for its digits.
var fileFacts, digits = regexp.MustCompile(`[0-9.]+ [KM]B in [0-9]+ pages|schema [0-9]+`), regexp.MustCompile(`[0-9]`)

// driven is the subject of a session: a Model, or Tabs.
type driven interface {
	send(tea.Msg)
	wait(time.Duration)
	press(keys ...string)
	typing(text string)
	screen() string
}

// takeStep runs one step.
func takeStep(s driven, on *file, word, rest string) {
	on.t.Helper()
	switch word {
	case "size":
		width, height := dimensions(on.t, rest)
		s.send(tea.WindowSizeMsg{Width: width, Height: height})
		s.wait(2 * ui.SettleTime)
	case "type":
		s.typing(rest)
	case "other":
		on.do(rest)
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			on.t.Fatal(err)
		}
		s.wait(d)
	case "click", "wheel":
		point(s, word, strings.Fields(rest))
	default:
		s.press(append([]string{word}, strings.Fields(rest)...)...)
	}
}

// point sends a mouse event: "X Y" of a click, "up X Y" or "down X Y" of the wheel.
func point(s driven, what string, words []string) {
	e := tea.MouseMsg{Action: tea.MouseActionPress, Button: tea.MouseButtonLeft}
	if what == "wheel" {
		e.Button = map[string]tea.MouseButton{"up": tea.MouseButtonWheelUp, "down": tea.MouseButtonWheelDown}[words[0]]
		words = words[1:]
	}
	e.X, e.Y = atoi(words[0]), atoi(words[1])
	s.send(e)
	s.wait(2 * ui.SettleTime)
}

// browsed creates a data set and returns a client of it.
func browsed(t *testing.T, on *file, name string) keyspace.Client {
	t.Helper()
	remote := on.fake
	switch name {
	case "shop": // a writable file with its index
		on.shop()
		return on
	case "indexed": // a file with search indexes
		on.indexed()
		return on
	case "forms": // a file with values in many forms
		on.forms()
		return on
	}
	remote.options = nil
	switch name {
	case "zoo": // a server, read by a scan
		remote.zoo()
	case "shut": // a server that refuses SCAN
		remote.zoo()
		remote.refuse = map[string]string{"SCAN": "NOPERM this user has no permissions to run the 'scan' command"}
	case "plain":
		remote.plain(3000)
	case "strict": // a server that refuses every command about all keys
		remote.zoo()
		remote.refuse = map[string]string{}
		for _, name := range []string{"SCAN", "DBSIZE", "OBJECT", "MEMORY", "INFO"} {
			remote.refuse[name] = "NOPERM this user has no permissions to run the '" + strings.ToLower(name) + "' command"
		}
	case "served": // a server with a server pane
		remote.zoo()
		remote.serves()
	case "none":
	default:
		t.Fatalf("no data set %q", name)
	}
	return remote
}

// forms fills f with decodable values and one with many pages.
func (f *file) forms() {
	const mark = `{"mark":"found"}`
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(mark)); err != nil {
		f.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.t.Fatal(err)
	}
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	for key, value := range map[string]string{
		"base64":  "eyJtYXJrIjoiZm91bmQifQ==",
		"gzip":    zipped.String(),
		"zstd":    string(packer.EncodeAll([]byte(mark), nil)),
		"msgpack": "\x81\xa4mark\xa5found",
		"image":   "GIF89a\x40\x01\xc8\x00\x00\x00\x00",
		"bytes":   "\x00\x01\xfe\xff and some text",
		"text":    strings.Repeat("The cat sat on the mat.\n", 40) + "And there it was.\n",
		"wide":    "東京タワー 👍🏽 é \x1b[31m",
	} {
		v, err := f.session.Do(context.Background(), []byte("SET"), []byte(key), []byte(value))
		if err != nil || v.IsError() {
			f.t.Fatalf("SET %s: %v %s", key, err, v.Str)
		}
	}
	for from := 0; from < 20_460; from += 1023 {
		var line strings.Builder
		line.WriteString("HSET pages")
		for i := from; i < from+1023; i++ {
			fmt.Fprintf(&line, " field:%05d value:%d", i, i)
		}
		f.do(line.String())
	}
}

func dimensions(t *testing.T, size string) (width, height int) {
	t.Helper()
	w, h, _ := strings.Cut(size, "x")
	width, err1 := strconv.Atoi(w)
	height, err2 := strconv.Atoi(h)
	if err1 != nil || err2 != nil {
		t.Fatalf("no size: %q", size)
	}
	return width, height
}

// difference returns the first lines that differ.
func difference(want, got []byte) string {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "line " + strconv.Itoa(i+1) + "\nwant " + w[i] + "\ngot  " + g[i]
		}
	}
	return "one ends before the other"
}
