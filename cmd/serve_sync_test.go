package cmd_test

import (
	"bufio"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var syncRounds = flag.Int("sync-rounds", 0, "kill a server with --sync-replicate this often")

// TestSyncReplicate kills a server whose clients write, and restores every acknowledged write from its place.
func TestSyncReplicate(t *testing.T) {
	t.Parallel()
	rounds := 2
	if *syncRounds > 0 {
		rounds = *syncRounds
	}
	for round := range rounds {
		dir := t.TempDir()
		place := filepath.Join(dir, "place")
		run := exec.Command("meowdis", "serve", "--resp", "127.0.0.1:0", filepath.Join(dir, "lost.sqlite"), "--replicate", place, "--sync-replicate")
		run.Env = manyThreads()
		out, err := run.StdoutPipe()
		if err == nil {
			err = run.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		address, ok := strings.CutPrefix(strings.TrimSpace(line), "RESP redis://")
		if err != nil || !ok {
			t.Fatalf("%q, %v", line, err)
		}
		var writers sync.WaitGroup
		acknowledged := make([]int, 3)
		enough := make(chan struct{}, len(acknowledged))
		for w := range acknowledged {
			n := connect(t, "tcp", address)
			writers.Go(func() {
				for i := 1; ; i++ {
					v, ok := n.once("SET", fmt.Sprint("key", w), fmt.Sprint(i))
					if !ok || v.IsError() {
						return
					}
					if acknowledged[w] = i; i == 5+5*round%20 {
						enough <- struct{}{}
					}
				}
			})
		}
		for range acknowledged {
			<-enough
		}
		run.Process.Kill()
		writers.Wait()
		run.Wait()
		restored := filepath.Join(dir, "restored.sqlite")
		if out, err := exec.Command("meowdis", "restore", place, restored).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for w, last := range acknowledged {
			got, err := exec.Command("meowdis", "exec", "-t", restored, "--raw", "GET", fmt.Sprint("key", w)).CombinedOutput()
			if n := number(strings.TrimSpace(string(got))); err != nil || n < int64(last) {
				t.Errorf("round %d: write %d was acknowledged, and the place has %s, %v", round, last, got, err)
			}
		}
	}
}
