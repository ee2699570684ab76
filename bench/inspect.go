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

// inspecting opens ever bigger files in the inspector and tells when their first
// screen is there, and how much memory it takes: when it has been drawn, and after
// a jump to the last key and back.
func inspecting(o options, dir string) error {
	fmt.Print("`meowdis inspect` on files of so many keys: whole processes until the tree is on the screen, median of 5.\n\n")
	fmt.Print("| keys | first screen | memory | after End and Home |\n|---:|---:|---:|---:|\n")
	for keys := 1000; keys <= o.inspected; keys *= 10 {
		file, err := treeFile(o, dir, keys)
		if err != nil {
			return err
		}
		var before, after int64
		var times []time.Duration
		for range 5 {
			var took time.Duration
			var err error
			if took, before, after, err = inspectOnce(o, file); err != nil {
				return fmt.Errorf("inspecting %d keys: %w", keys, err)
			}
			times = append(times, took)
		}
		fmt.Printf("| %d | %s | %d MB | %d MB |\n", keys, round(median(times)), before>>10, after>>10)
	}
	fmt.Println()
	return nil
}

// inspectOnce runs the inspector in a terminal of script(1) and returns the time
// until the first folder is drawn, and its memory in KB then and after a jump to
// the end and back.
func inspectOnce(o options, file string) (took time.Duration, before, after int64, err error) {
	line := "stty rows 24 cols 80; exec " + o.meowdis + " inspect " + file
	run := exec.Command("script", "-qec", line, "/dev/null")
	run.Env = append(os.Environ(), "TERM=tmux") // which is not asked for its background
	in, err1 := run.StdinPipe()
	out, err2 := run.StdoutPipe()
	start := time.Now()
	if err := errors.Join(err1, err2, run.Start()); err != nil {
		return 0, 0, 0, err
	}
	defer func() {
		io.WriteString(in, "q")
		err = errors.Join(err, in.Close(), run.Wait())
	}()
	screen := newAwaited(out)
	if err := screen.await("\u25b8"); err != nil { // the sign of a closed folder
		return 0, 0, 0, err
	}
	took = time.Since(start)
	if before, err = memoryOfChild(run.Process.Pid); err != nil {
		return took, 0, 0, err
	}
	// A flat list, its last key, and its first.
	for _, step := range [][2]string{{"v", "cache:00:"}, {"G", "user:99:"}, {"g", "cache:00:"}} {
		io.WriteString(in, step[0])
		if err := screen.await(step[1]); err != nil {
			return took, before, 0, err
		}
	}
	after, err = memoryOfChild(run.Process.Pid)
	return took, before, after, err
}

// awaited is what a program writes, as far as somebody waits for it.
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

// await waits until text is written behind what was awaited before.
func (a *awaited) await(text string) error {
	late := time.After(time.Minute)
	for {
		if i := bytes.Index(a.seen.Bytes(), []byte(text)); i >= 0 {
			a.seen.Next(i + len(text))
			return nil
		}
		select {
		case chunk, ok := <-a.chunks:
			if !ok {
				return fmt.Errorf("the inspector ended before it showed %q", text)
			}
			a.seen.Write(chunk)
		case <-late:
			return fmt.Errorf("the inspector did not show %q within a minute", text)
		}
	}
}

// memoryOfChild is the resident memory of a process's only child, in KB.
func memoryOfChild(pid int) (int64, error) {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0, err
	}
	status, err := os.ReadFile("/proc/" + strings.TrimSpace(string(children)) + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kb), "kB")), 10, 64)
		}
	}
	return 0, errors.New("the kernel tells no memory of the inspector")
}
