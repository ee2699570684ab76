package soak

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// resident is how many bytes of memory the process takes.
func (p *process) resident() (int64, error) {
	if statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid)); err == nil {
		fields := strings.Fields(string(statm))
		if len(fields) < 2 {
			return 0, fmt.Errorf("the process has ended")
		}
		pages, err := strconv.ParseInt(fields[1], 10, 64)
		return pages * int64(os.Getpagesize()), err
	}
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(p.cmd.Process.Pid)).Output()
	if err != nil {
		return 0, err
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return kilobytes << 10, err
}

// watchMemory samples the memory of the server after a warm-up, a third of the time that
// is planned, until all leave.
func (c *crowd) watchMemory(planned time.Duration) (samples []int64) {
	c.pause(planned / 3)
	for c.here.Err() == nil {
		n, err := c.server.resident()
		if c.ending.Load() {
			break // what was read may be of a process that is gone
		}
		if c.unmeant("memory", err) {
			break
		}
		samples = append(samples, n)
		c.seen.memory.Add(1)
		c.pause(planned / 100)
	}
	return samples
}

// flat is an error when the least memory of the last third of the samples is clearly more
// than that of the first third. Peaks come and go, as garbage does, and what leaks stays.
func flat(samples []int64) error {
	third := len(samples) / 3
	if third == 0 {
		return fmt.Errorf("there are %d samples of memory", len(samples))
	}
	before, after := slices.Min(samples[:third]), slices.Min(samples[2*third:])
	if after > before+before/5+slack {
		return fmt.Errorf("the server takes more and more memory: %s", inMB(samples))
	}
	return nil
}

// slack is what garbage and caches may add, wherever in them the samples begin.
const slack = 24 << 20

// inMB shows the least memory of each tenth of the samples.
func inMB(samples []int64) string {
	var b strings.Builder
	for part := range slices.Chunk(samples, max(1, len(samples)/10)) {
		fmt.Fprintf(&b, "%d ", slices.Min(part)>>20)
	}
	return b.String() + "MB"
}

func TestFlat(t *testing.T) {
	var steady, growing []int64
	for i := range int64(100) {
		noise := i * 7919 % 101 << 20
		steady = append(steady, 100<<20+noise)
		growing = append(growing, 100<<20+noise+i<<20)
	}
	if err := flat(steady); err != nil {
		t.Error(err)
	}
	if flat(growing) == nil || flat(nil) == nil {
		t.Error("what grows is taken for flat")
	}
}
