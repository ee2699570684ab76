package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/meowdis/meowdis/internal/tools/repo"
)

func main() {
	repo.Enter()
	var o options
	flag.StringVar(&o.meowdis, "meowdis", "", "the meowdis binary (required)")
	flag.StringVar(&o.redka, "redka", "", "the redka binary (required)")
	flag.IntVar(&o.requests, "n", 40_000, "requests of a test of a short command at pipeline 1; pipeline 16 makes more, longer commands fewer")
	flag.IntVar(&o.rounds, "rounds", 3, "number of rounds; the median counts")
	flag.IntVar(&o.keys, "keys", 1_000_000, "keys of the files to load, move and use on a terminal")
	flag.IntVar(&o.inspected, "inspect", 10_000_000, "keys of the biggest file, used for loading, for the inspector and for growth")
	flag.StringVar(&o.trees, "trees", "", "directory for the inspector's files, kept for later runs (default: a new temporary one)")
	flag.StringVar(&o.plots, "plots", "", "directory for the plots of growth")
	flag.StringVar(&o.write, "write", "", "page to update with the tables of this run, such as docs/benchmarks.md")
	flag.StringVar(&o.only, "only", "", "parts to run, separated by commas: "+strings.Join(names(), ", "))
	flag.IntVar(&o.elements, "elements", 1_000_000, "elements of the key for slow commands, and of the biggest key in growth")
	flag.StringVar(&o.slow, "slow", "", "run only slow commands with this prefix, and attacks that contain it")
	flag.BoolVar(&o.alone, "alone", false, "run slow commands on meowdis alone")
	flag.IntVar(&o.vectors, "vectors", 5_000, "number of vectors for VSIM")
	flag.IntVar(&o.docs, "docs", 1_000_000, "most documents for search, which also takes 10,000 and 100,000")
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
	docs                   int
	inspected              int
	trees, plots, write    string
	only, slow             string
	alone                  bool

	out     io.Writer // output of the current part
	scratch string    // a directory shared by all parts, removed at the end
	goals   goals
}

// The order of parts matters: growth empties the biggest file, which loading makes.
var parts = []part{
	{"servers", compareServers}, {"random", scattering}, {"mixed", mixing}, {"rest", overREST}, {"start", starting}, {"idle", idling},
	{"load", loading}, {"inspect", inspecting}, {"jobs", working}, {"growth", growth}, {"shell", shelling}, {"stall", stalling}, {"attacks", attacking},
	{"files", manyKeys}, {"move", moving}, {"memory", remembering}, {"rqlite", sharing}, {"commands", timing}, {"vsim", similar}, {"search", searching},
}

func names() (all []string) {
	for _, p := range parts {
		all = append(all, p.name)
	}
	return all
}

// run runs the parts. When one fails, the others still run.
func run(o *options) (err error) {
	wanted := names()
	if o.only != "" {
		wanted = strings.Split(o.only, ",")
	}
	for _, name := range wanted {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("unknown part %q: use one of %s", name, strings.Join(names(), ", "))
		}
	}
	if redisServer.name, err = redisVersion(); err != nil {
		return err
	}
	if o.scratch, err = os.MkdirTemp("", "meowdis-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(o.scratch)
	head := fmt.Sprintf("Measured on %s with %s/%s, %d CPUs%s, %s, %s, and Redka 0.6.0.\n\n",
		today(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), model(), runtime.Version(), redisServer.name)
	fmt.Print(head)
	began := time.Now()
	var failed []error
	for _, p := range parts {
		if slices.Contains(wanted, p.name) {
			failed = append(failed, p.measure(o))
		}
	}
	if len(o.goals) > 0 {
		o.goals.print(os.Stdout)
	}
	took := fmt.Sprintf("\nAll of it took %s.\n", time.Since(began).Round(time.Second))
	fmt.Print(took)
	if o.write != "" {
		failed = append(failed, rewrite(o.write, "goals", func(old string) string {
			if o.only != "" {
				first, _, _ := strings.Cut(strings.TrimSpace(old), "\n\n")
				return first + "\n\n" + o.goals.over(old, parts)
			}
			return head + o.goals.over(old, parts) + took
		}))
	}
	return errors.Join(failed...)
}

// model returns the name of the processor in brackets, or "" without a usable /proc/cpuinfo.
func model() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	if name := regexp.MustCompile(`(?m)^model name\s*: (.+)$`).FindSubmatch(info); name != nil {
		return " (" + string(name[1]) + ")"
	}
	return ""
}

// redisVersion returns the version of the redis-server on the PATH.
func redisVersion() (string, error) {
	out, err := exec.Command("redis-server", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("redis-server --version: %w", err)
	}
	version := regexp.MustCompile(`v=(\S+)`).FindSubmatch(out)
	if version == nil {
		return "", fmt.Errorf("redis-server --version printed %q", out)
	}
	return "redis-server " + string(version[1]) + ", appendfsync everysec", nil
}
