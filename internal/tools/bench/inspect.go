package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Fold marks of folders. A folder without siblings is shown open.
const closed, opened = "\u25b8", "\u25be"

// inspecting opens files of increasing size in the inspector, and reports the user's waits and
// the memory.
func inspecting(o *options, _ string) error {
	fmt.Fprint(o.out, "`meowdis inspect` by number of keys in the file, the last file with all strings in one folder, at 80×24: whole processes until the tree is on the screen, median of 5; then in the last one the time to the last key, through all keys for a filter that none passes, "+
		"to the whole order of each sort, and to the whole overview. Memory is resident, with the first screen and at the most.\n\n")
	titles := []string{"keys", "first screen"}
	for _, s := range strides("", "") {
		titles = append(titles, s.name)
	}
	titles = append(titles, "memory", "at the most")
	fmt.Fprintf(o.out, "| %s |\n|%s\n", strings.Join(titles, " | "), strings.Repeat("---:|", len(titles)))
	for keys := 1000; keys < o.inspected; keys *= 10 {
		file, err := treeFile(o, keys)
		if err != nil {
			return err
		}
		if err := inspectFile(o, file, keys, closed, strides("cache:00:", "user:99:")); err != nil {
			return fmt.Errorf("inspecting %d keys: %w", keys, err)
		}
	}
	file, err := o.biggest()
	switch {
	case errors.Is(err, errNotMeasured):
		fmt.Fprintf(o.out, "\n%v\n", err)
	case err != nil:
		return err
	default:
		if err := inspectFile(o, file, o.inspected, opened, strides(keyName(0), keyName(o.inspected-1))); err != nil {
			return fmt.Errorf("inspecting %d keys: %w", o.inspected, err)
		}
	}
	fmt.Fprintln(o.out)
	return nil
}

// inspectFile prints the row of a file. The first screen is complete when it contains shown.
func inspectFile(o *options, file string, keys int, shown string, strides []stride) error {
	var last visit
	var times []time.Duration
	for _, then := range [][]stride{nil, nil, nil, nil, strides} {
		var err error
		if last, err = inspectOnce(o, file, shown, then); err != nil {
			return err
		}
		times = append(times, last.first)
	}
	fmt.Fprintf(o.out, "| %d | %s |", keys, round(median(times)))
	for _, took := range last.strides {
		fmt.Fprintf(o.out, " %s |", took.Round(time.Millisecond))
	}
	fmt.Fprintf(o.out, " %d MB | %d MB |\n", last.before>>10, last.most>>10)
	return nil
}

// stride is a step of a user and the text that shows its end; before may prepare it.
type stride struct {
	name, keys, shown string
	before            [][2]string
}

// strides returns the steps through a file, given the beginnings of its first and last key. In
// a flat list, an escape sequence precedes the number of the selected key.
func strides(first, last string) []stride {
	second := [][2]string{{"j", "m2 of "}}
	return []stride{
		{name: "last key", keys: "G", shown: last, before: [][2]string{{"v", first}}},
		{name: "filter", keys: "/^nothing$\t\t\r", shown: "searched all keys"},
		{name: "by TTL", keys: "sTTL\r", shown: "m1 of ", before: [][2]string{{"\x1b", last}, {"g", first}, second[0]}},
		{name: "by size", keys: "ssize\r", shown: "m1 of ", before: second},
		{name: "by bytes", keys: "sbytes\r", shown: "m1 of ", before: second},
		{name: "by type", keys: "stype\r", shown: "m1 of ", before: second},
		{name: "by update", keys: "supdate\r", shown: "m1 of ", before: second},
		{name: "overview", keys: "O", shown: " keys, "}, // then the size in bytes, which is known last
	}
}

// visit holds the waits and the memory in KB of one process.
type visit struct {
	first        time.Duration
	strides, cpu []time.Duration // times, and the processor times of the same
	before, most int64
}

// inspectOnce runs the inspector in a terminal of script(1) until shown is drawn, then runs
// the strides.
func inspectOnce(o *options, file, shown string, strides []stride) (v visit, err error) {
	line := "stty rows 24 cols 80; exec " + o.meowdis + " inspect " + file
	run := exec.Command("script", "-qec", line, "/dev/null")
	run.Env = append(os.Environ(), "TERM=tmux-256color") // has no query for its background
	in, err1 := run.StdinPipe()
	out, err2 := run.StdoutPipe()
	start := time.Now()
	if err := errors.Join(err1, err2, run.Start()); err != nil {
		return v, err
	}
	defer func() {
		io.WriteString(in, "\x03")
		err = errors.Join(err, in.Close(), run.Wait())
	}()
	screen := newAwaited(out)
	if err := screen.await(shown); err != nil {
		return v, err
	}
	v.first = time.Since(start)
	child, err := childOf(run.Process.Pid)
	if err != nil {
		return v, err
	}
	if v.before, err = memoryOf(child, "VmRSS:"); err != nil || len(strides) == 0 {
		return v, err
	}
	for _, s := range strides {
		var start time.Time
		var used time.Duration
		for _, step := range append(s.before, [2]string{s.keys, s.shown}) {
			if used, err = processorOf(child); err != nil {
				return v, err
			}
			start = time.Now()
			io.WriteString(in, step[0])
			if err := screen.await(step[1]); err != nil {
				return v, fmt.Errorf("%s: %w", s.name, err)
			}
		}
		v.strides = append(v.strides, time.Since(start))
		now, err := processorOf(child)
		if err != nil {
			return v, err
		}
		v.cpu = append(v.cpu, now-used)
	}
	v.most, err = memoryOf(child, "VmHWM:")
	return v, err
}

// awaited is the output of a program, consumed by await.
type awaited struct {
	chunks chan []byte
	seen   bytes.Buffer
}

func newAwaited(r io.Reader) *awaited {
	a := &awaited{chunks: make(chan []byte, 1000)}
	go func() {
		defer close(a.chunks)
		for {
			buf := make([]byte, 32<<10)
			n, err := r.Read(buf)
			if n > 0 {
				a.chunks <- buf[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	return a
}

// longest limits each wait of await.
const longest = 10 * time.Minute

// await waits for text after the previously awaited text, or for any output if text is empty.
func (a *awaited) await(text string) error {
	late := time.After(longest)
	for {
		if i := bytes.Index(a.seen.Bytes(), []byte(text)); i >= 0 && a.seen.Len() > 0 {
			a.seen.Next(i + len(text))
			return nil
		}
		select {
		case chunk, ok := <-a.chunks:
			if !ok {
				return fmt.Errorf("the program ended before it showed %q", text)
			}
			a.seen.Write(chunk)
		case <-late:
			return fmt.Errorf("the program did not show %q within %v", text, longest)
		}
	}
}

// quiet skips output until a pause.
func (a *awaited) quiet() error {
	for {
		select {
		case _, ok := <-a.chunks:
			if !ok {
				return errors.New("the program ended")
			}
		case <-time.After(100 * time.Millisecond):
			a.seen.Reset()
			return nil
		}
	}
}

// childOf returns the only child of a process.
func childOf(pid int) (int, error) {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(children)))
}

// memoryOf returns a memory statistic of a process from the kernel, in KB.
func memoryOf(pid int, what string) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, what); ok {
			return strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kb), "kB")), 10, 64)
		}
	}
	return 0, fmt.Errorf("the kernel does not report the memory of process %d", pid)
}
