package main

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"time"
)

// sharing compares the SETs of 50 clients with the SETs of one, on one node of rqlite. Clients that wait share an
// entry of its log.
func sharing(o *options, parent string) error {
	const goal = "SETs of 50 clients : of one client, on rqlite"
	if _, err := exec.LookPath("rqlited"); err != nil {
		o.goals.unknown(goal, fmt.Errorf("%w: rqlited is not on the PATH", errNotMeasured))
		return nil
	}
	httpPort, err := freePort()
	if err != nil {
		return err
	}
	raftPort, err := freePort()
	if err != nil {
		return err
	}
	node := exec.Command("rqlited", "-http-addr", "127.0.0.1:"+httpPort, "-raft-addr", "127.0.0.1:"+raftPort, filepath.Join(parent, "node"))
	if err := node.Start(); err != nil {
		return err
	}
	defer (&running{cmd: node}).stop()
	if err := await(httpPort); err != nil {
		return err
	}
	server, err := start(rival{"meowdis", func(port, dir string) *exec.Cmd {
		return exec.Command(o.meowdis, "serve", "-t", "rqlite://127.0.0.1:"+httpPort, "--resp", "127.0.0.1:"+port)
	}}, parent)
	if err != nil {
		return err
	}
	defer server.stop()
	n := max(o.requests/40, 100)
	var one, many []float64
	for range o.rounds {
		began := time.Now()
		if err := mixedClient(server.port, n, 1, rand.New(rand.NewPCG(1, 2))); err != nil {
			return err
		}
		one = append(one, float64(n)/time.Since(began).Seconds())
		rate, err := drive(server.port, 5*n, 1)
		if err != nil {
			return err
		}
		many = append(many, rate)
	}
	r := median(many) / median(one)
	fmt.Fprintf(o.out, "SETs a second through `serve` on a node of rqlite, median of %d rounds:\n\n", o.rounds)
	fmt.Fprintf(o.out, "| 1 client | 50 clients | 50 : 1 |\n|---:|---:|---:|\n| %.0f | %.0f | %.2f× |\n\n", median(one), median(many), r)
	o.goals.atLeast(goal, r, 10)
	return nil
}
