package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// batch is the number of commands per request over REST, and per pipeline over RESP.
const batch = 100

// overREST compares /pipeline with a RESP pipeline of the same commands.
func overREST(o *options, parent string) error {
	dir, err := os.MkdirTemp(parent, "rest")
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	const token = "bench"
	server, err := start(rival{"meowdis", func(respPort, dir string) *exec.Cmd {
		return exec.Command(o.meowdis, "serve", "-t", filepath.Join(dir, "meowdis.sqlite"),
			"--resp", "127.0.0.1:"+respPort, "--http", "127.0.0.1:"+port, "--token", token)
	}}, dir)
	if err != nil {
		return err
	}
	defer server.stop()
	if err := await(port); err != nil {
		return err
	}
	n := o.requests * 2 / batch * batch
	var rest, direct []float64
	for range o.rounds {
		rate, err := concurrently(n, func(calls int) error { return restClient("http://127.0.0.1:"+port+"/pipeline", token, calls) })
		if err != nil {
			return err
		}
		rest = append(rest, rate)
		if rate, err = concurrently(n, func(calls int) error { return pipelineClient(server.port, calls) }); err != nil {
			return err
		}
		direct = append(direct, rate)
	}
	r := median(rest) / median(direct)
	fmt.Fprintf(o.out, "10 clients, %d SETs and GETs at a time, commands a second, median of %d rounds:\n\n", batch, o.rounds)
	fmt.Fprintf(o.out, "| REST, /pipeline | RESP | REST : RESP |\n|---:|---:|---:|\n| %.0f | %.0f | %.2f× |\n\n", median(rest), median(direct), r)
	o.goals.atLeast("a command in a /pipeline of 100, beside RESP", r, 0.5)
	return longPipeline(o, "http://127.0.0.1:"+port+"/pipeline", token, server.port)
}

// longPipeline compares one request of 10,000 SETs with the same commands over RESP.
func longPipeline(o *options, url, token, port string) error {
	const sets = 10_000
	var calls [][]string
	var wire []byte
	for i := range sets {
		calls = append(calls, []string{"SET", fmt.Sprintf("key:%012d", i*7919%sets), "xxx"})
		wire = resp.AppendCommand(wire, []byte("SET"), []byte(calls[i][1]), []byte("xxx"))
	}
	body, err := json.Marshal(calls)
	if err != nil {
		return err
	}
	conn, err := dial(port)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	overRESP := func() error {
		failed := make(chan error, 1)
		go func() { _, err := conn.Write(wire); failed <- err }()
		for range sets {
			if err := skipReply(in); err != nil {
				return err
			}
		}
		return <-failed
	}
	var rest, direct []time.Duration
	for range o.rounds * 3 {
		for _, way := range []struct {
			took *[]time.Duration
			run  func() error
		}{{&rest, func() error { return post(url, token, body) }}, {&direct, overRESP}} {
			began := time.Now()
			if err := way.run(); err != nil {
				return err
			}
			*way.took = append(*way.took, time.Since(began))
		}
	}
	r := ratio(median(rest), median(direct))
	fmt.Fprintf(o.out, "1 client, %d SETs in one /pipeline take %s, over RESP %s: %.2f×.\n\n", sets, round(median(rest)), round(median(direct)), r)
	o.goals.atMost(fmt.Sprintf("a /pipeline of %d SETs : the same over RESP", sets), r, 1.2)
	return nil
}

// post sends a request, and reads its response.
func post(url, token string, body []byte) error {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := restTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s, %w", url, res.Status, err)
	}
	return nil
}

// concurrently sends n commands from 10 clients, and returns the rate of replies per second.
func concurrently(n int, client func(calls int) error) (float64, error) {
	const clients = 10
	var running sync.WaitGroup
	errs := make([]error, clients)
	began := time.Now()
	for i := range clients {
		running.Go(func() { errs[i] = client(n / clients / batch) })
	}
	running.Wait()
	took := time.Since(began)
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return float64(n/clients/batch*batch*clients) / took.Seconds(), nil
}

// batched returns the commands of call i: SETs and GETs alternate.
func batched(i int) [][]string {
	calls := make([][]string, 0, batch)
	for j := range batch / 2 {
		key := fmt.Sprintf("key:%012d", (i*7919+j*104729)%10_000)
		calls = append(calls, []string{"SET", key, "xxx"}, []string{"GET", key})
	}
	return calls
}

func restClient(url, token string, calls int) error {
	for i := range calls {
		body, err := json.Marshal(batched(i))
		if err != nil {
			return err
		}
		if err := post(url, token, body); err != nil {
			return err
		}
	}
	return nil
}

var restTransport = &http.Transport{MaxIdleConnsPerHost: 10}

func pipelineClient(port string, calls int) error {
	conn, err := dial(port)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	var out []byte
	for i := range calls {
		out = out[:0]
		for _, words := range batched(i) {
			args := make([][]byte, len(words))
			for j, w := range words {
				args[j] = []byte(w)
			}
			out = resp.AppendCommand(out, args...)
		}
		if _, err := conn.Write(out); err != nil {
			return err
		}
		for range batch {
			if err := skipReply(in); err != nil {
				return err
			}
		}
	}
	return nil
}
