package metrics

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
)

// TestLongArgument logs a call with a long argument. Only the part that is shown is copied: Go stops no goroutine while
// it copies 100 MB, and a garbage collection that begins then makes all others wait.
func TestLongArgument(t *testing.T) {
	l := &SlowLog{}
	l.max.Store(10)
	args := [][]byte{[]byte("SET"), []byte("k"), bytes.Repeat([]byte("x"), 32<<20)}
	cmd, _ := commands.Find(args)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l.Add(time.Now(), cmd, args, time.Second, "", "")
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("a log entry takes %d bytes", took)
	}
	if got := string(l.entries[0].args[2].Str); got != string(args[2][:maxSlowArg])+"... (33554304 more bytes)" {
		t.Errorf("the log shows %.200q", got)
	}
}
