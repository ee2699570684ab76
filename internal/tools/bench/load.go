package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// shuffled returns the numbers of n keys in the same pseudo-random order every time.
func shuffled(n int) []int { return rand.New(rand.NewPCG(1, 2)).Perm(n) }

func inOrder(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// loading times bulk loads into separate files, and one that overwrites the keys of the first.
// The last one makes the biggest file, which is kept for other parts.
func loading(o *options, dir string) error {
	fmt.Fprint(o.out, "SETs through `meowdis exec --pipe`:\n\n| | time | µs of a key | processor time | memory |\n|---|---:|---:|---:|---:|\n")
	line := func(name string, keys int, took started, kb int64) {
		fmt.Fprintf(o.out, "| %s | %s | %.1f | %s | %d MB |\n", name, took.wall[0].Round(1e8), micros(took.wall[0], keys), took.cpu[0].Round(1e8), kb>>10)
	}
	var disordered, cpu time.Duration
	for _, l := range []struct {
		name, file string
		numbers    []int
	}{
		{"keys in order", "in order", inOrder(o.keys)},
		{"keys in no order", "in no order", shuffled(o.keys)},
		{"keys of the first file again, in no order", "in order", shuffled(o.keys)},
	} {
		took, kb, err := load(o, filepath.Join(dir, l.file), l.numbers)
		if err != nil {
			return err
		}
		line(fmt.Sprintf("%d %s", o.keys, l.name), o.keys, took, kb)
		if l.file == "in no order" {
			disordered, cpu = took.wall[0], took.cpu[0]
		}
	}
	var flush started
	if err := flush.add(exec.Command(o.meowdis, "exec", "-t", filepath.Join(dir, "in order"), "FLUSHALL")); err != nil {
		return err
	}
	fmt.Fprintf(o.out, "| FLUSHALL of them | %s | %.1f | %s | |\n", flush.wall[0].Round(1e7), micros(flush.wall[0], o.keys), flush.cpu[0].Round(1e7))
	o.goals.within(fmt.Sprintf("%d SETs in no order", o.keys), disordered, time.Duration(o.keys)*10*time.Microsecond)
	o.goals.within(fmt.Sprintf("processor time of %d SETs in no order", o.keys), cpu, time.Duration(o.keys)*10*time.Microsecond)
	o.goals.within(fmt.Sprintf("FLUSHALL of %d keys", o.keys), flush.wall[0], time.Duration(o.keys)*time.Microsecond)
	growing := fmt.Sprintf("a key of %d in no order : one of %d", o.inspected, o.keys)
	took, kb, err := o.loadBiggest()
	switch {
	case errors.Is(err, errNotMeasured):
		o.goals.unknown(growing, err)
	case err != nil:
		return err
	default:
		line(fmt.Sprintf("%d keys in no order", o.inspected), o.inspected, took, kb)
		o.goals.atMost(growing, micros(took.wall[0], o.inspected)/micros(disordered, o.keys), 1.3)
	}
	fmt.Fprintln(o.out)
	return nil
}

func micros(d time.Duration, keys int) float64 { return float64(d.Microseconds()) / float64(keys) }

// biggest returns the file of o.inspected strings, created by the first part that needs it.
// The error is errNotMeasured if the disk has no space for it.
func (o *options) biggest() (string, error) {
	file := o.biggestName()
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	_, _, err := o.loadBiggest()
	return file, err
}

func (o *options) biggestName() string { return filepath.Join(o.scratch, "biggest.sqlite") }

// loadBiggest creates that file if the disk has space for it: no figure is worth a full disk.
func (o *options) loadBiggest() (started, int64, error) {
	const bytesOfAKey = 250 // half for the row and its indexes, the rest for the log and for sorting keys
	var disk syscall.Statfs_t
	if err := syscall.Statfs(o.scratch, &disk); err != nil {
		return started{}, 0, err
	}
	free, need := disk.Bavail*uint64(disk.Bsize), uint64(o.inspected)*bytesOfAKey
	if free < need {
		return started{}, 0, fmt.Errorf("%w: a file of %d keys takes %d MB, and %s has room for %d MB (set TMPDIR, or -inspect to fewer)",
			errNotMeasured, o.inspected, need>>20, o.scratch, free>>20)
	}
	return load(o, o.biggestName(), shuffled(o.inspected))
}

// load creates keys with the given numbers in a file, in one process. It returns the time, and
// the memory in KB when the last command arrived.
func load(o *options, file string, numbers []int) (took started, kb int64, err error) {
	fill := exec.Command(o.meowdis, "exec", "--pipe", "-t", file)
	in, err := fill.StdinPipe()
	if err != nil {
		return took, 0, err
	}
	err = took.addWith(fill, func() error {
		defer in.Close()
		if err := writeSets(in, numbers); err != nil {
			return err
		}
		kb, err = memoryOf(fill.Process.Pid, "VmHWM:")
		return err
	})
	if err != nil {
		return took, 0, fmt.Errorf("loading %s: %w", file, err)
	}
	return took, kb, nil
}

// writeSets writes the commands while they are being read: ten million SETs are 300 MB.
func writeSets(w io.Writer, numbers []int) error {
	script := bufio.NewWriterSize(w, 64<<10)
	var line []byte
	for _, i := range numbers {
		line = append(line[:0], "SET "...)
		line = append(line, keyName(i)...)
		line = fmt.Appendf(line, " value:%d\n", i)
		if _, err := script.Write(line); err != nil {
			return err
		}
	}
	return script.Flush()
}

// keyName returns the name of key i in the files of load and in growing databases.
func keyName(i int) string { return fmt.Sprintf("key:%07d", i) }
