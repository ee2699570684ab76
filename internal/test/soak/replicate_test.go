package soak

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/replicate"
)

// TestReplicateCrash kills a server that streams its file, under load, again and again. What is restored
// from the stream each time is whole: each writer's numbers up to some one, at least the one that was
// acknowledged when everything had been streamed. In the end a server that is stopped
// has streamed all.
func TestReplicateCrash(t *testing.T) {
	dir := t.TempDir()
	path, stream := filepath.Join(dir, "db"), filepath.Join(dir, "stream")
	place, err := replicate.Open(stream, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(*seed, 1))
	var clients []*client
	for _, w := range writers {
		if w.speaks(false) && w.beside == nil {
			clients = append(clients, &client{writer: w, name: w.kind})
		}
	}
	until := time.Now().Add(*runFor)
	for round := 0; !t.Failed() && (round < rounds/2 || time.Now().Before(until)); round++ {
		p := startVerb(t, path, 0, "--replicate", stream, "--replicate-every", "20ms")
		streamed := make([]int, len(clients)) // what must be there
		writeUntilKilled(t, p, clients, 1+random.Int64N(most), func() {
			for i, c := range clients {
				streamed[i] = c.acknowledged
			}
			awaitStreamed(t, p, place, clients)
		})
		restored := filepath.Join(dir, fmt.Sprint("restored", round))
		if _, err := place.Restore(t.Context(), restored, time.Time{}, nil); err != nil {
			t.Fatal(err)
		}
		if log := p.log.String(); strings.Contains(log, "sending the whole file") {
			t.Error("the stream did not go on from where it was")
		}
		for i, n := range numbers(t, restored, clients) {
			if c := clients[i]; n < streamed[i] || n > c.acknowledged+1 {
				t.Errorf("%s: %d was streamed, %d acknowledged, and %d is there", c.name, streamed[i], c.acknowledged, n)
			}
		}
		for i, n := range numbers(t, path, clients) { // of what was under way when the server was killed
			if c := clients[i]; n != c.acknowledged && n != c.acknowledged+1 {
				t.Errorf("%s: %d was acknowledged, and %d is there", c.name, c.acknowledged, n)
			}
			clients[i].acknowledged = n
		}
	}
	p := startVerb(t, path, 0, "--replicate", stream, "--replicate-every", "20ms")
	p.cmd.Process.Signal(os.Interrupt)
	p.cmd.Wait()
	restored := filepath.Join(dir, "last")
	if _, err := place.Restore(t.Context(), restored, time.Time{}, nil); err != nil {
		t.Fatal(err)
	}
	findWritten(t, restored, clients)
}

// writeUntilKilled has the clients write, looks once in the middle while they rest, and kills the server
// some writes later.
func writeUntilKilled(t *testing.T, p *process, clients []*client, after int64, look func()) {
	var written atomic.Int64
	sessions := make([]session, len(clients))
	for i := range clients {
		s, err := p.dial(false)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		sessions[i] = s
	}
	write := func(enough func() bool) {
		var running sync.WaitGroup
		for i, c := range clients {
			running.Go(func() {
				for !enough() {
					if err := c.write(sessions[i], c.name, c.acknowledged+1); err != nil {
						return // it was killed, and findWritten says what that may have lost
					}
					c.acknowledged++
					written.Add(1)
				}
			})
		}
		running.Wait()
	}
	write(func() bool { return written.Load() >= after })
	look()
	go func() {
		for written.Load() < 2*after {
			time.Sleep(time.Millisecond)
		}
		p.kill()
	}()
	write(func() bool { return false })
}

// awaitStreamed restores until all that was acknowledged is there.
func awaitStreamed(t *testing.T, p *process, place *replicate.Place, clients []*client) {
	for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		path := filepath.Join(t.TempDir(), "restored")
		if _, err := place.Restore(t.Context(), path, time.Time{}, nil); err == nil {
			found := numbers(t, path, clients)
			all := true
			for i, c := range clients {
				all = all && found[i] >= c.acknowledged
			}
			if all {
				return
			}
		}
		if time.Now().After(late) {
			t.Fatalf("what was written is not streamed\n%s", p.log.String())
		}
	}
}

// numbers are those that the clients find in a file, which is whole.
func numbers(t *testing.T, path string, clients []*client) (found []int) {
	t.Helper()
	file, err := local.Open(path, local.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := storetest.NewClient(t, engine.New(file))
	for _, writer := range clients {
		n, err := writer.look(c, writer.name)
		if err != nil {
			t.Errorf("%s: %v", writer.name, err)
		}
		found = append(found, n)
	}
	examine(t, file)
	return found
}
