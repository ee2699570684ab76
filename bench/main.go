package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.meowdis, "meowdis", "", "the meowdis binary (required)")
	flag.StringVar(&o.redka, "redka", "", "the redka binary (required)")
	flag.IntVar(&o.requests, "n", 50_000, "requests of a test of a short command at pipeline 1; pipeline 16 makes twice as many, longer commands fewer")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds, of which the median counts")
	flag.IntVar(&o.keys, "keys", 1_000_000, "keys of the big file")
	flag.IntVar(&o.inspected, "inspect", 10_000_000, "keys of the biggest file that the inspector opens, and of the biggest database that grows")
	flag.StringVar(&o.trees, "trees", "", "the directory that keeps the inspector's files for the next run; made anew each time when empty")
	flag.StringVar(&o.plots, "plots", "", "the directory that plots of growth are written to; none when empty")
	flag.StringVar(&o.only, "only", "", "one part: servers, mixed, rest, start, idle, load, commands, files, move, inspect, shell, vsim, stall or growth")
	flag.IntVar(&o.elements, "elements", 1_000_000, "elements of the key that slow commands are about")
	flag.StringVar(&o.slow, "slow", "", "of the slow commands those that begin so")
	flag.BoolVar(&o.alone, "alone", false, "run slow commands on meowdis alone")
	flag.IntVar(&o.vectors, "vectors", 5_000, "vectors that VSIM compares")
	flag.Parse()
	if o.meowdis == "" || o.redka == "" {
		fmt.Fprintln(os.Stderr, "bench: -meowdis and -redka are required; make bench sets them")
		os.Exit(2)
	}
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	meowdis, redka         string
	requests, rounds, keys int
	vectors, elements      int
	inspected              int
	trees, plots           string
	only, slow             string
	alone                  bool

	goals goals
}

func run(o *options) error {
	dir, err := os.MkdirTemp("", "meowdis-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("Measured on %s with %s/%s, %d CPUs, %s.\n\n", time.Now().Format("2006-01-02"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	defer func() { o.goals.print() }()
	for _, part := range []struct {
		name string
		run  func(*options, string) error
	}{
		{"servers", compareServers}, {"mixed", mixing}, {"rest", overREST}, {"start", starting}, {"idle", idling},
		{"load", loading}, {"commands", timing}, {"files", manyKeys}, {"move", moving}, {"inspect", inspecting}, {"shell", shelling}, {"vsim", similar}, {"stall", stalling}, {"growth", growth},
	} {
		if o.only != "" && o.only != part.name {
			continue
		}
		if err := part.run(o, dir); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}
