package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The longest acceptable waits in both terminal programs.
const (
	firstScreen = 30 * time.Millisecond
	oneKey      = 16 * time.Millisecond
	oneTab      = 50 * time.Millisecond
)

// program is a terminal program.
type program struct {
	verb  string
	shown string   // text of the complete first screen
	keys  []string // pressed in order
	drawn string   // text after each key; "" means any output
	tab   string   // text that TAB completes, or ""
	menu  string   // text of its menu
}

// shelling presses keys in the prompt and in the inspector, on a file of many keys.
func shelling(o *options, dir string) error {
	file, err := treeFile(o, o.keys)
	if err != nil {
		return err
	}
	state := filepath.Join(dir, "state")
	if err := fillHistory(filepath.Join(state, "meowdis")); err != nil {
		return err
	}
	fmt.Fprintf(o.out, "On a terminal of 80×24, on a file of %d keys and with a history of 2000 texts: from the start of the process to its first screen, median of 5, and from a key press to its effect on the screen.\n\n", o.keys)
	fmt.Fprintln(o.out, "| | first screen | a key, median | slowest | TAB |\n|---|---:|---:|---:|---:|")
	for _, p := range []program{
		{"repl", "> ", strings.Split("HSET user:42:43 name cat43 age 7", ""), "\x1b[?25h", "GET user:4", "user:4"},
		{"inspect", "\u25b8", strings.Split(strings.Repeat("jjjjkkkk", 4), ""), "", "", ""},
	} {
		first, keys, tab, err := p.timed(o, file, state)
		if err != nil {
			return fmt.Errorf("%s: %w", p.verb, err)
		}
		slices.Sort(keys)
		tabbed := ""
		if p.tab != "" {
			tabbed = round(tab).String()
			o.goals.within("TAB after `"+p.tab+"` in `"+p.verb+"`", tab, oneTab)
		}
		fmt.Fprintf(o.out, "| `meowdis %s` | %s | %s | %s | %s |\n", p.verb, round(first), round(keys[len(keys)/2]), round(keys[len(keys)-1]), tabbed)
		o.goals.within("first screen of `"+p.verb+"`", first, firstScreen)
		o.goals.within("a key in `"+p.verb+"`", keys[len(keys)/2], oneKey)
	}
	fmt.Fprintln(o.out)
	return nil
}

// fillHistory fills the prompt's history.
func fillHistory(dir string) error {
	var b bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&b, "HSET user:%d:%d name cat%d\n", i%100, i, i)
	}
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "history"), b.Bytes(), 0o600))
}

// timed starts the program five times, and presses the keys in the last one.
func (p program) timed(o *options, file, state string) (first time.Duration, keys []time.Duration, tab time.Duration, err error) {
	var firsts []time.Duration
	for i := range 5 {
		took, err := p.visit(o, file, state, func(in io.Writer, screen *awaited) error {
			if i < 4 {
				return nil
			}
			for i, key := range p.keys {
				time.Sleep(time.Duration(i%8) * 2 * time.Millisecond) // at any time between two frames
				took, err := press(in, screen, key, p.drawn)
				if err != nil {
					return err
				}
				keys = append(keys, took)
			}
			if p.tab == "" {
				return nil
			}
			io.WriteString(in, "\x03"+p.tab)
			if err := screen.quiet(); err != nil {
				return err
			}
			var err error
			tab, err = press(in, screen, "\t", p.menu)
			return err
		})
		if err != nil {
			return 0, nil, 0, err
		}
		firsts = append(firsts, took)
	}
	return median(firsts), keys, tab, nil
}

// visit runs the program, and calls visit after its first screen.
func (p program) visit(o *options, file, state string, visit func(io.Writer, *awaited) error) (first time.Duration, err error) {
	const starts = "it starts"
	line := "stty rows 24 cols 80; echo '" + starts + "'; exec " + o.meowdis + " " + p.verb + " " + file
	run := exec.Command("script", "-qec", line, "/dev/null")
	// A terminal without a background query, and without the user's key bindings.
	run.Env = append(os.Environ(), "TERM=tmux-256color", "XDG_STATE_HOME="+state, "INPUTRC=/dev/null")
	in, err1 := run.StdinPipe()
	out, err2 := run.StdoutPipe()
	if err := errors.Join(err1, err2, run.Start()); err != nil {
		return 0, err
	}
	defer func() {
		io.WriteString(in, "\x03\x04")
		err = errors.Join(err, in.Close(), run.Wait())
	}()
	screen := newAwaited(out)
	if err := screen.await(starts); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := screen.await(p.shown); err != nil {
		return 0, err
	}
	first = time.Since(began)
	if err := screen.quiet(); err != nil {
		return 0, err
	}
	return first, visit(in, screen)
}

// press presses a key and returns the time to its effect.
func press(in io.Writer, screen *awaited, key, drawn string) (time.Duration, error) {
	began := time.Now()
	if _, err := io.WriteString(in, key); err != nil {
		return 0, err
	}
	if err := screen.await(drawn); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return took, screen.quiet()
}
