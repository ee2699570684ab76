package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
)

// manyKeys measures the user's waits on a file of many keys.
func manyKeys(o *options, dir string) error {
	file := filepath.Join(dir, "many.sqlite")
	if _, _, err := load(o, file, inOrder(o.keys)); err != nil {
		return err
	}
	fmt.Fprintf(o.out, "Whole processes on a file of %d keys, median of 10:\n\n", o.keys)
	fmt.Fprintln(o.out, "| | |")
	fmt.Fprintln(o.out, "|---|---:|")
	for _, args := range [][]string{
		{"GET", keyName(o.keys / 2)}, {"DBSIZE"}, {"SCAN", "0", "COUNT", "100"},
		{"SCAN", fmt.Sprint(o.keys * 9 / 10), "COUNT", "100"}, {"RANDOMKEY"}, {"EXISTS", "nothing"},
	} {
		took, err := medianTime(10, func() error {
			return exec.Command(o.meowdis, append([]string{"exec", "-t", file}, args...)...).Run()
		})
		if err != nil {
			return fmt.Errorf("%q: %w", args, err)
		}
		fmt.Fprintf(o.out, "| `%s` | %s |\n", joined(args), round(took))
	}
	fmt.Fprintln(o.out)
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
