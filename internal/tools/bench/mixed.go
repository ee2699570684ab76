package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// mixing compares a mix of reads and writes with the rate expected from the rates of reads
// alone and writes alone.
func mixing(o *options, parent string) error {
	const writes = 0.1
	var get, set, mixed []float64
	err := onServer(o, parent, func(server *running) error {
		port := server.port
		if _, err := drive(port, o.requests, 1); err != nil { // every key exists
			return err
		}
		for range o.rounds {
			for _, part := range []struct {
				writes float64
				rates  *[]float64
			}{{0, &get}, {1, &set}, {writes, &mixed}} {
				rate, err := drive(port, o.requests, part.writes)
				if err != nil {
					return err
				}
				*part.rates = append(*part.rates, rate)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	promised := 1 / ((1-writes)/median(get) + writes/median(set))
	fmt.Fprintf(o.out, "50 clients over RESP, one command at a time, requests a second, median of %d rounds:\n\n", o.rounds)
	fmt.Fprint(o.out, "| GET | SET | 90 % GET, 10 % SET | promised by the parts |\n|---:|---:|---:|---:|\n")
	fmt.Fprintf(o.out, "| %.0f | %.0f | %.0f | %.0f |\n\n", median(get), median(set), median(mixed), promised)
	o.goals.atLeast("90 % GET and 10 % SET, beside what these promise", median(mixed)/promised, 0.8)
	return nil
}

// onServer calls do with meowdis serving a fresh file over RESP.
func onServer(o *options, parent string, do func(*running) error) error {
	dir, err := os.MkdirTemp(parent, "server")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := start(rivals(o)[0], dir)
	if err != nil {
		return err
	}
	defer server.stop()
	return do(server)
}

// drive sends n commands from 50 clients, each after the reply to its last one, and returns
// the rate per second. The fraction writes of them are SETs.
func drive(port string, n int, writes float64) (float64, error) {
	const clients = 50
	var running sync.WaitGroup
	failed := make(chan error, clients)
	began := time.Now()
	for i := range clients {
		running.Go(func() {
			if err := mixedClient(port, n/clients, writes, rand.New(rand.NewPCG(1, uint64(i)))); err != nil {
				failed <- err
			}
		})
	}
	running.Wait()
	took := time.Since(began)
	select {
	case err := <-failed:
		return 0, err
	default:
		return float64(n/clients*clients) / took.Seconds(), nil
	}
}

func mixedClient(port string, n int, writes float64, random *rand.Rand) error {
	conn, err := dial(port)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	var out []byte
	for range n {
		key := fmt.Appendf(nil, "key:%012d", random.IntN(10_000))
		call := [][]byte{[]byte("GET"), key}
		if random.Float64() < writes {
			call = [][]byte{[]byte("SET"), key, []byte("xxx")}
		}
		out = resp.AppendCommand(out[:0], call...)
		if _, err := conn.Write(out); err != nil {
			return err
		}
		if err := skipReply(in); err != nil {
			return err
		}
	}
	return nil
}

// skipReply reads a status or a bulk string.
func skipReply(in *bufio.Reader) error {
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	var size int
	switch line[0] {
	case '+':
		return nil
	case '$':
		if _, err := fmt.Sscanf(line, "$%d", &size); err != nil || size < 0 {
			return err
		}
		_, err = io.CopyN(io.Discard, in, int64(size)+2)
		return err
	default:
		return fmt.Errorf("the server answered %q", line)
	}
}
