package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"time"
)

// manyKeys loads files with exec --pipe, its keys in order and in none, and times
// what a person waits for on the first.
func manyKeys(o options, dir string) error {
	file := filepath.Join(dir, "many.sqlite")
	order := make([]int, o.keys)
	for i := range order {
		order[i] = i
	}
	took, err := load(o, file, order)
	if err != nil {
		return err
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	shuffled, err := load(o, filepath.Join(dir, "shuffled.sqlite"), order)
	if err != nil {
		return err
	}
	fmt.Printf("%d SETs through `meowdis exec --pipe` take %s with the keys in order, %s in none. Whole processes on the first file, median of 10:\n\n",
		o.keys, took.Round(1e8), shuffled.Round(1e8))
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

// load times a bulk load of keys with the given numbers.
func load(o options, file string, numbers []int) (time.Duration, error) {
	var script bytes.Buffer
	for _, i := range numbers {
		fmt.Fprintf(&script, "SET key:%07d value:%d\n", i, i)
	}
	took, err := medianTime(1, func() error {
		fill := exec.Command(o.meowdis, "exec", "--pipe", "--db", file)
		fill.Stdin = bytes.NewReader(script.Bytes())
		return fill.Run()
	})
	if err != nil {
		return 0, fmt.Errorf("loading %s: %w", file, err)
	}
	return took, nil
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
