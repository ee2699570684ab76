package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"
)

// job is work on many keys or elements in the inspector, on a file that fill makes.
type job struct {
	name   string
	fill   func(w io.Writer)
	stride stride
	cpu    time.Duration // the limit of its processor time
	kb     int64         // the limit of the memory of the whole session; 0 for none
}

// inspectorJobs are jobs with o.keys keys or fields, and for a deletion two fifths of them.
func inspectorJobs(o *options) []job {
	some := o.keys * 2 / 5
	scale := func(limit time.Duration) time.Duration { return limit * time.Duration(o.keys) / 1_000_000 }
	strings := func(n int) func(io.Writer) {
		return func(w io.Writer) {
			for i := range n {
				fmt.Fprintf(w, "SET user:%d value:%d\n", i, i)
			}
			fmt.Fprintln(w, "SET a needle")
		}
	}
	return []job{
		{fmt.Sprintf("delete %d keys of a folder, and keep what undo needs", some), strings(some), stride{
			keys: "y", shown: "Press u to undo", before: [][2]string{{"w", "WRITING"}, {"j", "user:"}, {"d", "undo restores all"}}}, scale(15 * time.Second), 0},
		{fmt.Sprintf("search a text in the values of %d keys", o.keys), strings(o.keys), stride{
			keys: "needle\r", shown: "searched all values", before: [][2]string{{"&", "Search in values"}}}, scale(3 * time.Second), 0},
		{fmt.Sprintf("sort a hash of %d fields by value", o.keys), func(w io.Writer) {
			for i := range o.keys {
				fmt.Fprintf(w, "HSET h f%d v%08d\n", i, (i+o.keys/2)%o.keys)
			}
		}, stride{keys: "value\r", shown: "v00000000", before: [][2]string{{"\r", " fields"}, {"s", "Sort fields by"}}}, scale(3 * time.Second), 100},
	}
}

// working times the jobs of the inspector.
func working(o *options, dir string) error {
	fmt.Fprint(o.out, "Jobs in `meowdis inspect`, from the last key press to the result, and the memory of the whole session:\n\n"+
		"| | time | processor time | at the most |\n|---|---:|---:|---:|\n")
	for i, j := range inspectorJobs(o) {
		file := filepath.Join(dir, fmt.Sprintf("job%d.sqlite", i))
		fill := exec.Command(o.meowdis, "exec", "--pipe", "-t", file)
		in, err := fill.StdinPipe()
		if err != nil {
			return err
		}
		if err := fill.Start(); err != nil {
			return err
		}
		script := bufio.NewWriterSize(in, 1<<20)
		j.fill(script)
		if err := errors.Join(script.Flush(), in.Close(), fill.Wait()); err != nil {
			return fmt.Errorf("%s: making the file: %w", j.name, err)
		}
		v, err := inspectOnce(o, file, "keys", []stride{j.stride})
		if err != nil {
			return fmt.Errorf("%s: %w", j.name, err)
		}
		fmt.Fprintf(o.out, "| %s | %s | %s | %d MB |\n", j.name, round(v.strides[0]), round(v.cpu[0]), v.most>>10)
		o.goals.within("processor time to "+j.name, v.cpu[0], j.cpu)
		if j.kb > 0 {
			o.goals.below("memory to "+j.name, v.most, j.kb)
		}
	}
	fmt.Fprintln(o.out)
	return nil
}
