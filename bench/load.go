package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"time"
)

// shuffled is the numbers of n keys in no order, the same each time.
func shuffled(n int) []int { return rand.New(rand.NewPCG(1, 2)).Perm(n) }

func inOrder(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// loading times bulk loads into files of their own, and over the keys of the first.
func loading(o *options, dir string) error {
	fmt.Printf("%d SETs through `meowdis exec --pipe`:\n\n| | time | processor time | memory |\n|---|---:|---:|---:|\n", o.keys)
	for _, l := range []struct {
		name, file string
		numbers    []int
	}{
		{"keys in order", "in order", inOrder(o.keys)},
		{"keys in no order", "in no order", shuffled(o.keys)},
		{"the keys of the first file again, in no order", "in order", shuffled(o.keys)},
	} {
		took, kb, err := load(o, filepath.Join(dir, l.file), l.numbers)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %s | %s | %d MB |\n", l.name, took.wall[0].Round(1e8), took.cpu[0].Round(1e8), kb>>10)
		if l.file == "in no order" {
			o.goals.within(fmt.Sprintf("%d SETs in no order", o.keys), took.wall[0], time.Duration(o.keys)*10*time.Microsecond)
		}
	}
	var flush started
	if err := flush.add(exec.Command(o.meowdis, "exec", "--db", filepath.Join(dir, "in order"), "FLUSHALL")); err != nil {
		return err
	}
	fmt.Printf("| FLUSHALL of them | %s | %s | |\n\n", flush.wall[0].Round(1e7), flush.cpu[0].Round(1e7))
	o.goals.within(fmt.Sprintf("FLUSHALL of %d keys", o.keys), flush.wall[0], time.Duration(o.keys)*time.Microsecond)
	return nil
}

// load makes keys with the given numbers in a file, in one process, and says what
// that took, and how many KB of memory until the last command had come in.
func load(o *options, file string, numbers []int) (took started, kb int64, err error) {
	var script bytes.Buffer
	for _, i := range numbers {
		fmt.Fprintf(&script, "SET key:%07d value:%d\n", i, i)
	}
	fill := exec.Command(o.meowdis, "exec", "--pipe", "--db", file)
	in, err := fill.StdinPipe()
	if err != nil {
		return took, 0, err
	}
	err = took.addWith(fill, func() error {
		defer in.Close()
		if _, err := script.WriteTo(in); err != nil {
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
