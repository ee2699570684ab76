package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
)

// manyKeys fills a file through exec's stdin and times what a person waits for.
func manyKeys(o options, dir string) error {
	file := filepath.Join(dir, "many.sqlite")
	var script bytes.Buffer
	for i := range o.keys {
		fmt.Fprintf(&script, "SET key:%07d value:%d\n", i, i)
	}
	fill := exec.Command(o.meowdis, "exec", "--db", file)
	fill.Stdin = &script
	took, err := medianTime(1, fill.Run)
	if err != nil {
		return fmt.Errorf("filling the big file: %w", err)
	}
	fmt.Printf("A file of %d keys, filled from standard input in %s (%.0f commands a second); whole processes, median of 10:\n\n",
		o.keys, took.Round(1e8), float64(o.keys)/took.Seconds())
	fmt.Println("| | |")
	fmt.Println("|---|---:|")
	for _, args := range [][]string{
		{"GET", "key:0500000"}, {"DBSIZE"}, {"SCAN", "0", "COUNT", "100"},
		{"SCAN", fmt.Sprint(o.keys * 9 / 10), "COUNT", "100"}, {"RANDOMKEY"}, {"EXISTS", "nothing"},
	} {
		took, err := medianTime(10, func() error {
			return exec.Command(o.meowdis, append([]string{"exec", "--db", file}, args...)...).Run()
		})
		if err != nil {
			return fmt.Errorf("%q: %w", args, err)
		}
		fmt.Printf("| `%s` | %s |\n", joined(args), round(took))
	}
	fmt.Println()
	return nil
}

func joined(args []string) string {
	var b bytes.Buffer
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a)
	}
	return b.String()
}
