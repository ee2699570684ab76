package cmd

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/server"
)

// limitOptions holds the limits on clients and requests.
type limitOptions struct {
	requestMemory, memory byteSize
	clients               int
	writeTimeout          flags.Interval
}

func (o *limitOptions) addFlags(f *pflag.FlagSet) {
	o.requestMemory, o.memory = 768<<20, 2<<30
	f.Var(&o.requestMemory, "max-request-memory", "limit the rows and replies of one request to `SIZE`")
	f.Var(&o.memory, "max-memory", "limit the rows and replies of all requests together to `SIZE`")
	f.IntVar(&o.clients, "max-clients", 10_000, "accept at most `NUMBER` connections over each protocol")
	o.writeTimeout = flags.Interval(30 * time.Second)
	f.Var(&o.writeTimeout, "write-timeout", "close the connection of a client that reads nothing for `DURATION`")
}

func (o *limitOptions) check() error {
	if o.clients < 1 || o.writeTimeout <= 0 {
		return exit.Usagef("--max-clients and --write-timeout must be more than 0")
	}
	return nil
}

// baseMemory limits the memory that Go takes in addition to the requests. SQLite's cache and the program itself are not
// part of it: together the process takes at most 300 MB more than --max-memory.
const baseMemory = 128 << 20

// apply sets the limits of a server. Unless GOMEMLIMIT is set, it also sets Go's memory limit.
func (o *limitOptions) apply(c *server.Config, getenv func(string) string) {
	c.MaxRequestMemory, c.MaxMemory = int64(o.requestMemory), int64(o.memory)
	c.MaxClients, c.WriteTimeout = o.clients, time.Duration(o.writeTimeout)
	if getenv("GOMEMLIMIT") == "" {
		c.OnMemory = o.limitHeap
		o.limitHeap(0)
	}
	collectRarely(getenv)
}

// minHeap limits the heap of a server with small requests. By default Go waits until the garbage equals the memory in
// use, so that the garbage of a request of hundreds of MB would add to the next one.
const minHeap = 512 << 20

// limitHeap sets Go's memory limit while requests hold used bytes.
func (o *limitOptions) limitHeap(used int64) {
	debug.SetMemoryLimit(min(int64(o.memory)+baseMemory, max(minHeap, used+server.MemoryStep+baseMemory)))
}

// byteSize reads a flag's number of bytes, with an optional unit: b, kb, mb or gb.
type byteSize int64

var byteUnits = []struct {
	suffix string
	bytes  int64
}{{"gb", 1 << 30}, {"mb", 1 << 20}, {"kb", 1 << 10}, {"b", 1}, {"", 1}}

func (s *byteSize) String() string {
	for _, u := range byteUnits {
		if n := int64(*s); n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return "0"
}

func (s *byteSize) Set(text string) error {
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(strings.ToLower(text), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = byteSize(n * u.bytes)
		return nil
	}
	return fmt.Errorf("give a size such as 500mb or 2gb")
}

func (s *byteSize) Type() string { return "size" }

// secretOptions holds the two flags of a secret: its value, which other users can see in the list of processes, or a
// file that contains it.
type secretOptions struct {
	name        string
	value, file string
}

func (o *secretOptions) addFlags(f *pflag.FlagSet, name, usage string) {
	o.name = name
	f.StringVar(&o.value, name, "", usage)
	f.StringVar(&o.file, name+"-file", "", "`FILE` whose first line is the value of --"+name)
}

// read returns the secret of the flags, or other if none is given.
func (o *secretOptions) read(other string) (string, error) {
	switch {
	case o.value != "" && o.file != "":
		return "", exit.Usagef("give --%s or --%[1]s-file, not both", o.name)
	case o.file == "":
		return cmp.Or(o.value, other), nil
	}
	text, err := os.ReadFile(o.file)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", o.file, atomicfile.Pathless(err))
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("reading %s: its first line is empty", o.file)
	}
	return line, nil
}
