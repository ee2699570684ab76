package cmd_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/foreignfile"
	"github.com/meowdis/meowdis/internal/test/oracle"
)

// meowdisExec runs commands on a target, a line each.
func meowdisExec(t *testing.T, dir, script string, args ...string) string {
	t.Helper()
	run := exec.Command("meowdis", append([]string{"exec"}, args...)...)
	run.Dir, run.Stdin = dir, strings.NewReader(script)
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// openTarget is the file of every visit.
const openTarget = `SET user:1 '{"name":"Ann","city":"Bern"}'
HSET user:2 name Bob city Rome
RPUSH queue:jobs one two three
SET session:1 token EX 1000
SET gz "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\xca\x4d\x2c\xca\x56\xb2\x52\x4a\xcb\x2f\xcd\x4b\x51\xaa\x05\x00\x48\x51\xb0\x6c\x10\x00\x00\x00"
XADD log 1-1 kind login
XGROUP CREATE log ops 0
XREADGROUP GROUP ops worker STREAMS log >
SET m東京タワー 値
SELECT 3
SET three 3
`

// visit is a run of the browser in a real terminal: keys, and what is seen then. Keys
// are tmux's names of them, or "type TEXT", "click X Y", "size W H", "other LINE" (a
// command of another process), "changes TEXT" (the line with it does), "shell LINE"
// or "leave LINE", after q. What is seen begins with "!" when it
// must go.
type visit struct {
	bullet, what string
	run          string // the command, after "meowdis inspect"; "t.sqlite" when empty
	env          string // before the command
	left         bool   // it ends in the shell
	anySize      bool   // made at every size
	steps        [][2]string
}

// visits is what the browser is for.
var visits = []visit{
	{bullet: "Keys", what: "a tree with its counts, by vim's keys and by arrows", anySize: true, steps: [][2]string{
		{"G", "▌ ▸ user:"}, {"l", "▾ user:"}, {"j j", "▌     2"}, {"h h", "▌ ▸ user:"}, {"Home Down Down Down", "▌ ▸ queue:"},
	}},
	{bullet: "Keys", what: "filter as one types: glob, fuzzy, regex, exact", steps: [][2]string{
		{"/", "glob"}, {"type job", "queue:jobs"}, {"Tab", "fuzzy"}, {"Tab", "regex"}, {"Tab", "exact"}, {"C-u", "exact"}, {"type user:2", "1 of 1 found"}, {"Enter Escape", "▾ user:"},
	}},
	{bullet: "Keys", what: "filter by type, TTL and database; sort", steps: [][2]string{
		{"t", "zset"}, {"type ha", "▌ hash"}, {"Enter", "user:2"}, {"Escape", "KEY"}, {"do filter_ttl", "within an hour"}, {"Down Enter", "session:1"}, {"Escape s Down Enter", "TTL↑"}, {"do sort_back", "TTL↓"}, {"` 0", "1 key"}, {"3 Enter", "db 3 · 1 key"},
	}},
	{bullet: "Keys", what: "TTLs count down; what is over goes", steps: [][2]string{
		{"`", "session:1"}, {"changes session:1", "session:1"}, {"expires nnn", ""}, {"", "!nnn"},
	}},
	{bullet: "Values", what: "JSON, text and hex; a search in it", steps: [][2]string{
		{"G Enter", "▾ user:"}, {"j Enter", `"city": "Bern"`}, {"f", `{"name":"Ann"`}, {"f", "00000000"}, {"f", `"city": "Bern"`}, {"/", "▏"}, {"type Bern", "Bern▏"}, {"Enter", "line 3 of 4"},
	}},
	{bullet: "Values", what: "what is compressed; a stream and its groups", steps: [][2]string{
		{"Enter", "gzip"}, {"", `"mark": "found"`}, {"Escape j Enter", "kind=login"}, {"]", "ops"}, {"Enter", "worker"},
	}},
	{bullet: "Values", what: "all about a key, its rows and their SQL", steps: [][2]string{
		{"j i", "encoding"}, {"", "2026|20"}, {"G", "v_stream|streams|stream"}, {"Escape", "!encoding"},
	}},
	{bullet: "Doing", what: "read-only until it is unlocked; $EDITOR; undo", env: "EDITOR=./editor ", anySize: true, steps: [][2]string{
		{"G Enter", "▾ user:"}, {"j Enter", "Bern"}, {"E", "The inspector is read-only"}, {"w", "Writing is unlocked"}, {"E", "Changed user:1"}, {"", "string · 5 bytes"}, {"u", "Undone"},
	}},
	{bullet: "Doing", what: "an editor that is found where none is named", env: "VISUAL= EDITOR= PATH=$PWD/found:$PATH ", steps: [][2]string{
		{"G Enter", "▾ user:"}, {"j Enter", "Bern"}, {"w", "Writing is unlocked"}, {"E", "Edited with nano, because EDITOR is not set"}, {"", "\"Basel\""}, {"f", `{"name":"Ann","city":"Basel"}`},
	}},
	{bullet: "Doing", what: "add, edit in place, expire, persist, rename, delete", steps: [][2]string{
		{"w", "Writing"}, {"a Enter", "New string"}, {"type new", "new▏"}, {"Tab", "▌ value"}, {"type text", "text▏"}, {"Tab Enter", "Added new."},
		{"Enter", "text"}, {"e", "Edit new"}, {"type s", "texts▏"}, {"Enter", "Changed new."}, {"x", "TTL of"}, {"type 5m", "5m▏"}, {"Enter", "5m 00s|4m 5"},
		{"do persist", "no expiry"}, {"Escape r", "Rename new"}, {"type er", "newer▏"}, {"Enter", "Renamed"}, {"d", "Delete newer"}, {"y", "Deleted newer"},
	}},
	{bullet: "Doing", what: "several keys and a folder, after their exact number", steps: [][2]string{
		{"w", "Writing"}, {"G Space g Space", "2 rows marked"}, {"d", "3 keys?"}, {"n", "Nothing was changed"}, {"Escape G d", "Delete user:*, 2 keys?"}, {"y", "Deleted user:*"}, {"u", "Undone"}, {"G", "▸ user:"},
	}},
	{bullet: "Doing", what: "redo, the list of changes, what a text is found in, a stream as it grows", steps: [][2]string{
		{"w", "Writing"}, {"G d", "Delete user:*, 2 keys?"}, {"y", "Deleted user:*"}, {"u", "Undone"}, {"C-r", "Redo: Deleted"}, {"y", "Redone"}, {"U", "now · 2 keys"}, {"End Enter", "Undone"},
		{"&", "Search in values"}, {"type rome", "rome▏"}, {"Enter", "1 of 1 found"}, {"Enter &", "Show only fields"}, {"type rome", "rome▏"}, {"Enter", "1 of 1 · of 2 fields"}, {"s Down Enter", "by field"},
		{"Escape Escape Escape o", "Open a key"}, {"type log", "log▏"}, {"Enter", "kind=login"}, {"F", "live"}, {"other XADD log 9-1 kind late", "kind=late"},
	}},
	{bullet: "Doing", what: "a profile that wants its name typed", run: "-t @prod", steps: [][2]string{
		{"w", "Writing"}, {"g d", "Type prod"}, {"type no", "no▏"}, {"Enter", "That is not prod"}, {"C-u", "▏"}, {"type prod", "prod▏"}, {"Enter", "Deleted gz"},
	}},
	{bullet: "Doing", what: "keys written to a file, as a script", left: true, steps: [][2]string{
		{"G >", "export.redis▏"}, {"Enter", "Wrote 2 keys"}, {"leave cat export.redis", "user:2"},
	}},
	{bullet: "Seeing", what: "the overview, as plots", steps: [][2]string{
		{"O", "Types"}, {"", "█"}, {"G", "journal"}, {"Escape", "!journal"},
	}},
	{bullet: "Seeing", what: "what another process writes, in the list and in the value", steps: [][2]string{
		{"", "7 keys"}, {"other SET aaa 1", "8 keys"}, {"G l", "▾ user:"}, {"j Enter", "Bern"}, {"other SET user:1 changed", "changed"},
		{"do follow", "Not following"}, {"other SET user:1 again", "changed"}, {"R", "again"},
	}},
	{bullet: "Seeing", what: "that the file was moved away, and put back", steps: [][2]string{
		{"rename t.sqlite away.sqlite", "the file was deleted"}, {"rename away.sqlite t.sqlite", "!the file was deleted"},
	}},
	{bullet: "Seeing", what: "any command; the log of all, and their SQL", steps: [][2]string{
		{":", ": ▏"}, {"type HGET user:2 name", "name▏"}, {"Enter", "Bob"}, {": Up", "HGET user:2 name▏"}, {"Escape", "KEY"}, {"do log", "Commands sent"}, {"", "HGET user:2 name"}, {"Enter", "plan:|SELECT"}, {"Escape", "▸ user:"},
	}},
	{bullet: "Seeing", what: "actions found by words; bookmarks, and several targets in tabs", run: "t.sqlite ../redka.db", steps: [][2]string{
		{"C-p", "Actions"}, {"type filter type", "filter by type"}, {"Enter", "zset"}, {"Escape G l", "▾ user:"}, {"j b", "Bookmarked user:1"}, {"G h h g '", "★ user:1"}, {"Enter", "Bern"},
		{"}", "redka.db  "}, {"C-t", "Open a profile"}, {"type t.sqlite", "file"}, {"Enter", "3 t.sqlite"}, {"'", "★ user:1"}, {"Escape C-w 1", "Bern"},
	}},
	{bullet: "Seeing", what: "help; a screen that is too small says so, and grows again under an overlay", anySize: true, steps: [][2]string{
		{"?", "page"}, {"size 20 5", "Too small: 20×5"}, {"d", "Too small"}, {"size back", "page"}, {"Escape", "▸ user:"}, {"size 100 30", "string ·|KEY"},
	}},
	{bullet: "Seeing", what: "the mouse selects, opens, scrolls, and presses hints", left: true, anySize: true, steps: [][2]string{
		{"click 5 7", "▾ queue:"}, {"click 5 7", "▸ queue:"}, {"wheel 5 5", "▌"}, {"t", "zset"}, {"click 1 3", "!zset"}, {"hint quit", "$"},
	}},
	{bullet: "Seeing", what: "Ctrl-Z and fg", anySize: true, steps: [][2]string{
		{"C-z", "Stopped"}, {"shell fg", "▸ user:"}, {"j", "▌   log"},
	}},
	{bullet: "Anywhere", what: "a file of another kind, which is only read", run: "../redka.db", steps: [][2]string{
		{"", "keys"}, {"w", "read-only. To change a copy: meowdis import"},
	}},
}

// TestInspectVisits makes every visit in a real terminal. What they show at other sizes is in the
// sessions of package inspect, which must have each capability at each size; here the smallest and
// the largest see what is a matter of the terminal.
func TestInspectVisits(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	meowdisExec(t, home, openTarget, "-t", "base.sqlite")
	if err := foreignfile.Make("redka", filepath.Join(home, "redka.db")); err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]int{{40, 12}, {80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			p := newParty(t, home, size)
			for _, v := range visits {
				if !v.anySize && size != [2]int{80, 24} {
					continue
				}
				if !t.Run(v.bullet+": "+v.what, func(t *testing.T) { p.pays(t, v) }) {
					return // the terminal may be anywhere now
				}
			}
		})
	}
}

// party is a terminal in which visits are made, one after the other.
type party struct {
	*screen
	dir, home string
	size      [2]int
}

func newParty(t *testing.T, home string, size [2]int) *party {
	dir := filepath.Join(home, fmt.Sprintf("%dx%d", size[0], size[1]))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := &party{openScreen(t, size[0], size[1], "HOME="+dir, "XDG_CONFIG_HOME="+dir+"/config", "XDG_STATE_HOME="+dir+"/state"), dir, home, size}
	// An editor that needs the terminal, as all do.
	editor := "#!/bin/sh\ntest -t 0 && test -t 1 && echo '[1,2]' > \"$1\"\n"
	if err := os.WriteFile(filepath.Join(dir, "editor"), []byte(editor), 0o700); err != nil {
		t.Fatal(err)
	}
	// What is found on the PATH changes a city, and leaves the lines as they are.
	if err := os.Mkdir(filepath.Join(dir, "found"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "found", "nano"), []byte("#!/bin/sh\nsed -i 's/^  \"city\": \"Bern\"/  \"city\": \"Basel\"/' \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.check(p.Run("cd " + dir + "; meowdis profile add prod -t t.sqlite --confirm name; echo; echo ready"))
	p.shows("\nready")
	p.cleared()
	return p
}

// prompted waits for the shell.
func (p *party) prompted() {
	p.t.Helper()
	_, err := p.Wait("the prompt", func(screen string) bool { return strings.TrimSpace(screen) == "$" })
	p.check(err)
}

func (p *party) pays(t *testing.T, v visit) {
	p.t = t
	old, err := filepath.Glob(filepath.Join(p.dir, "t.sqlite*"))
	p.check(err)
	for _, file := range old {
		p.check(os.Remove(file))
	}
	data, err := os.ReadFile(filepath.Join(p.home, "base.sqlite"))
	p.check(err)
	p.check(os.WriteFile(filepath.Join(p.dir, "t.sqlite"), data, 0o600))
	p.check(os.RemoveAll(filepath.Join(p.dir, "state", "meowdis", "undo"))) // of the visit before
	p.check(p.Run("clear; " + v.env + "meowdis inspect " + cmp.Or(v.run, "t.sqlite")))
	p.shows("▌")
	for _, step := range v.steps {
		p.acts(step[0])
		p.sees(step[1])
	}
	if v.left {
		p.cleared()
		return
	}
	p.leaves("C-c")
	p.check(p.Resize(p.size[0], p.size[1]))
}

// leaves presses a key that ends the program.
func (p *party) leaves(key string) {
	p.t.Helper()
	p.check(p.Press(key))
	p.cleared()
}

// cleared waits for the shell, which would not get what is typed before, and clears
// the screen.
func (p *party) cleared() {
	p.t.Helper()
	_, err := p.Wait("the prompt", func(screen string) bool { return strings.HasSuffix("\n"+strings.TrimSpace(screen), "\n$") })
	p.check(err)
	p.check(p.Run("clear"))
	p.prompted()
}

// acts does the first part of a step.
func (p *party) acts(keys string) {
	p.t.Helper()
	word, rest, _ := strings.Cut(keys, " ")
	var x, y int
	if keys != "" {
		p.rests()
	}
	switch word {
	case "":
	case "type":
		p.check(p.Type(rest))
	case "leave":
		p.leaves("q")
		p.check(p.Run(rest))
	case "shell":
		p.check(p.Run(rest))
	case "do": // an action of the palette
		p.check(p.Press("C-p"))
		p.sees("Actions")
		p.check(p.Type(rest))
		p.check(p.Press("Enter"))
	case "other":
		meowdisExec(p.t, p.dir, rest+"\n", "-t", "t.sqlite")
	case "expires":
		p.expires(rest)
	case "rename":
		from, to, _ := strings.Cut(rest, " ")
		p.check(os.Rename(filepath.Join(p.dir, from), filepath.Join(p.dir, to)))
	case "changes":
		screen, err := p.Screen()
		p.check(err)
		before := lineWith(screen, rest)
		_, err = p.Wait("another line than "+before, func(screen string) bool { return lineWith(screen, rest) != before })
		p.check(err)
	case "click", "wheel":
		fmt.Sscan(rest, &x, &y)
		p.check(p.Send(fmt.Sprintf("\x1b[<%d;%d;%dM", map[string]int{"click": 0, "wheel": 65}[word], x, y)))
	case "hint":
		var footer string
		screen, err := p.Wait("a footer that rests, with "+rest, func(screen string) bool {
			lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
			before := footer
			footer = lines[len(lines)-1]
			return footer == before && strings.Contains(footer, rest) && len(lines) == p.size[1]
		})
		p.check(err)
		at := len([]rune(footer[:strings.Index(footer, rest)]))
		p.t.Logf("a click at %d of %q, below\n%s", at, footer, screen)
		p.check(p.Send(fmt.Sprintf("\x1b[<0;%d;%dM", at+1, p.size[1])))
	case "size":
		if rest == "back" {
			x, y = p.size[0], p.size[1]
		} else {
			fmt.Sscan(rest, &x, &y)
		}
		p.check(p.Resize(x, y))
	default:
		// One by one: what follows an escape at once is part of it.
		for i, key := range strings.Fields(keys) {
			if i > 0 {
				p.rests()
			}
			p.check(p.Press(key))
		}
	}
}

// TestInspectCopies puts what is copied into the terminal's clipboard.
func TestInspectCopies(t *testing.T) {
	t.Parallel()
	p := newParty(t, t.TempDir(), [2]int{80, 24})
	meowdisExec(t, p.dir, openTarget, "-t", "t.sqlite")
	p.check(p.Run("clear; meowdis inspect t.sqlite"))
	p.shows("▸ user:")
	p.check(p.Press("G", "Enter", "Home"))
	p.shows("▾ user:")
	for _, c := range []struct{ keys, want string }{
		{"g y Enter", "gz"}, {"j y Down Enter", ""}, {"y Down Down Enter", "XRANGE log - +"}, {"y End Enter", "meowdis exec -t t.sqlite XRANGE 'log' - +"},
		{"G k y Down Enter", `{"name":"Ann","city":"Bern"}`},
	} {
		p.acts(c.keys)
		if c.want == "" {
			p.shows("Open the value")
			continue
		}
		p.shows("clipboard")
		var got string
		_, err := p.Wait("the clipboard to hold "+c.want, func(string) bool {
			got, _ = p.Clipboard() // there is none before the first
			return got == c.want
		})
		if err != nil {
			t.Fatalf("the clipboard holds %q: %v", got, err)
		}
	}
}

// colour is an escape sequence that sets one; 39 and 49 take it away.
var colour = regexp.MustCompile(`\x1b\[(\d+;)*(3[0-8]|4[0-8]|9\d|10\d)[;m]`)

// TestInspectColours draws for light and dark backgrounds, and without colours.
func TestInspectColours(t *testing.T) {
	t.Parallel()
	p := newParty(t, t.TempDir(), [2]int{80, 12})
	meowdisExec(t, p.dir, openTarget, "-t", "t.sqlite")
	const light, dark, reversed = "\x1b[48;5;189m", "\x1b[48;5;59m", "\x1b[7m"
	for _, c := range []struct{ run, background, want string }{
		{"TERM=tmux-256color meowdis inspect t.sqlite", "default", dark},
		{"TERM=tmux-256color meowdis inspect --background light t.sqlite", "default", light},
		{"TERM=screen-256color COLORFGBG='0;15' meowdis inspect t.sqlite", "default", light},
		{"TERM=xterm-256color COLORFGBG='15;0' meowdis inspect t.sqlite", "#ffffff", light}, // the terminal knows better
		{"TERM=xterm-256color COLORFGBG='0;15' meowdis inspect t.sqlite", "#101010", dark},
		{"TERM=xterm-256color COLORFGBG='0;15' meowdis inspect --background dark t.sqlite", "#ffffff", dark},
		{"TERM=linux meowdis inspect t.sqlite", "default", reversed},
		{"TERM=screen meowdis inspect t.sqlite", "default", reversed},
		{"TERM=xterm-mono meowdis inspect t.sqlite", "default", reversed},
		{"TERM=tmux-256color NO_COLOR=1 meowdis inspect t.sqlite", "default", reversed},
	} {
		p.check(p.Background(c.background))
		p.check(p.Run("clear; " + c.run))
		p.shows("▌")
		var coloured string
		_, err := p.Wait(c.run, func(string) bool {
			var err error
			coloured, err = p.Coloured()
			p.check(err)
			return strings.Contains(lineWith(coloured, "▌"), c.want)
		})
		if err != nil {
			t.Errorf("%s on %s: the selected line is not in %q:\n%q", c.run, c.background, c.want, coloured)
		}
		if plain := strings.Contains(c.run, "NO_COLOR") || strings.Contains(c.run, "mono"); plain && colour.MatchString(coloured) {
			t.Errorf("%s: there are colours: %q", c.run, coloured)
		}
		p.leaves("q")
	}
	p.check(p.Run("TERM=dumb meowdis inspect t.sqlite"))
	p.shows("TERM is dumb")
}

// TestInspectIsEndedBySignals leaves the terminal as it was, after every signal that
// asks it to end.
func TestInspectIsEndedBySignals(t *testing.T) {
	t.Parallel()
	p := newParty(t, t.TempDir(), [2]int{80, 24})
	meowdisExec(t, p.dir, openTarget, "-t", "t.sqlite")
	p.check(p.Run("stty -g > before; clear"))
	p.prompted()
	for signal, code := range map[string]int{"TERM": 143, "HUP": 129, "INT": 130, "QUIT": 131} {
		p.check(p.Run("clear; sh -c 'echo $$ > pid; exec meowdis inspect t.sqlite'; echo code $?"))
		p.shows("▸ user:")
		pid, err := os.ReadFile(filepath.Join(p.dir, "pid"))
		p.check(err)
		p.check(exec.Command("kill", "-"+signal, strings.TrimSpace(string(pid))).Run())
		p.shows(fmt.Sprintf("code %d", code))
		p.check(p.Run("clear; stty -g | cmp - before && echo as be''fore"))
		p.shows("as before")
	}
}

// TestInspectServers browses what is found by SCAN: a real Redis, and an endpoint.
func TestInspectServers(t *testing.T) {
	t.Parallel()
	rest, _ := serveMemory(t)
	server := oracle.Start(t)
	server.Dial(t)
	script := "DEL user:1 user:2 queue:jobs session:1\nSET user:1 x\nHSET user:2 name Bob\nRPUSH queue:jobs one two three\nSET session:1 token EX 1000\n"
	for name, target := range map[string]string{
		"redis": "-t unix://" + server.Socket, "rest": "-t " + rest + " --token " + restToken,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			meowdisExec(t, dir, script, strings.Fields(target)...)
			s := openScreen(t, 80, 24)
			s.check(s.Run("cd " + dir + " && clear && meowdis inspect " + target))
			s.shows("▸ user:")
			s.check(s.Press("w"))
			s.shows("Writing is unlocked")
			s.check(s.Press("d"))
			s.shows("Delete queue:*, 1 key?")
			s.check(s.Press("y"))
			s.shows("3 keys")
			s.check(s.Press("u"))
			s.shows("Undone")
			s.shows("4 keys")
			s.check(s.Press("O"))
			s.shows("in a sample of")
			s.check(s.Press("Escape", "q"))
			if got := meowdisExec(t, dir, "LRANGE queue:jobs 0 -1\n", strings.Fields(target)...); !strings.Contains(got, "three") {
				t.Errorf("LRANGE answered %q", got)
			}
		})
	}
}

// TestInspectReadOnly cannot be unlocked.
func TestInspectReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	meowdisExec(t, dir, openTarget, "-t", "t.sqlite")
	s := openScreen(t, 80, 24)
	s.check(s.Run("cd " + dir + " && clear && NO_COLOR=1 meowdis inspect --read-only --no-mouse t.sqlite"))
	s.shows("▸ user:")
	s.check(s.Press("w"))
	s.shows("This target is read-only.")
	s.check(s.Press("q"))
}
