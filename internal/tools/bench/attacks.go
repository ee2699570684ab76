package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/meowdis/meowdis/internal/histogram"
	"github.com/meowdis/meowdis/redis/resp"
)

// Each attack is repeated for attackFor, while another client sends a GET every getEvery.
const (
	attackFor = 2 * time.Second
	getEvery  = time.Millisecond
)

// attack is a call with a long computation.
type attack struct {
	what string
	fill func(*client) error // prepares the keys; nil for none
	call []string            // {dump} is the payload of DUMP s
}

var attacks = []attack{
	{"nothing", nil, nil},
	{"`BITPOS b 1`, the last of 2³² bits", setBit, []string{"BITPOS", "b", "1"}},
	{"`BITCOUNT b 1 -2 BIT` of 2³² bits", setBit, []string{"BITCOUNT", "b", "1", "-2", "BIT"}},
	{"`GETBIT b 4294967295`", setBit, []string{"GETBIT", "b", "4294967295"}},
	{"`GETRANGE b` of 100 MB", setBit, []string{"GETRANGE", "b", "1000", "100000999"}},
	{"`LCS` of 9 KB each", calls([]string{"MSET", "x", strings.Repeat("ab", 4500), "y", strings.Repeat("ba", 4500)}), []string{"LCS", "x", "y"}},
	{"`JSON.GET j $..a` of 200,000 objects", deepJSON, []string{"JSON.GET", "j", "$..a"}},
	{"`JSON.GET j $..*..*..*`, 100 deep", deepJSON, []string{"JSON.GET", "deep", "$..*..*..*"}},
	{"`EVAL` of `gsub` on 700 letters", nil, []string{"EVAL", "return string.gsub(string.rep('a', 700), '.-.-b', '')", "0"}},
	{"`SORT` of 200,000 `BY` a pattern", both(many("SADD s", "m%d"), many("MSET", "w_m%d %d")), []string{"SORT", "s", "BY", "w_*", "LIMIT", "0", "1000"}},
	{"`GEOSEARCH` over 200,000", many("GEOADD g", "13.%d 38.%d m%d"), strings.Fields("GEOSEARCH g FROMLONLAT 13 38 BYRADIUS 5000 km DESC COUNT 1000")},
	{"`VSIM FILTER` over 20,000", vectorsWithAttributes, []string{"VSIM", "v", "ELE", "0", "COUNT", "10", "FILTER", ".n > 5 and .n % 3 == 1"}},
	{"`DUMP` of 100 MB", hundredMB, []string{"DUMP", "s"}},
	{"`RESTORE` of 100 MB", hundredMB, []string{"RESTORE", "l", "0", "{dump}", "REPLACE"}},
	{"`XRANGE` over 2,000 entries of 30 KB", largeEntries, []string{"XRANGE", "x", "-", "+"}},
	{"`ARGREP` over 200,000", many("ARMSET a", "%d value%d"), strings.Fields("ARGREP a 0 200000 GLOB *a*a*a*a*b LIMIT 1")},
	{"`CONFIG GET` of hard patterns", nil, append([]string{"CONFIG", "GET"}, slowGlobs...)},
	{"`PUBSUB CHANNELS` of a hard pattern", channels, []string{"PUBSUB", "CHANNELS", "*" + strings.Repeat("a", 250) + "b"}},
}

var slowGlobs = strings.Fields(strings.Repeat("*a*a*a*a*b ", 5000))

func calls(all ...[]string) func(*client) error {
	return func(c *client) error {
		for _, args := range all {
			if _, err := c.do(args...); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
		}
		return nil
	}
}

// many returns a function that adds 200,000 elements.
func many(command, element string) func(*client) error {
	return func(c *client) error { return prepare(c, filling{"", command, element}, 200_000) }
}

func both(a, b func(*client) error) func(*client) error {
	return func(c *client) error { return errors.Join(a(c), b(c)) }
}

var setBit = calls([]string{"SETBIT", "b", "4294967295", "1"})

func deepJSON(c *client) error {
	wide := "[" + strings.Repeat(`{"a":{"b":1}},`, 200_000) + "1]"
	return calls([]string{"JSON.SET", "j", "$", wide}, []string{"JSON.SET", "deep", "$", strings.Repeat("[", 100) + strings.Repeat("]", 100)})(c)
}

func hundredMB(c *client) error {
	draw := rand.New(rand.NewPCG(1, 2))
	piece := make([]byte, 1<<20)
	for i := range piece {
		piece[i] = byte(draw.Uint32())
	}
	for range 100 {
		if _, err := c.do("APPEND", "s", string(piece)); err != nil {
			return err
		}
	}
	return nil
}

func vectorsWithAttributes(c *client) error {
	draw := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		args := []string{"VADD", "v", "VALUES", "16"}
		for range 16 {
			args = append(args, strconv.FormatFloat(draw.NormFloat64(), 'f', 4, 32))
		}
		if _, err := c.do(append(args, strconv.Itoa(i), "SETATTR", fmt.Sprintf(`{"n":%d}`, i), "EF", "10", "M", "8")...); err != nil {
			return err
		}
	}
	return nil
}

func largeEntries(c *client) error {
	for range 2000 {
		if _, err := c.do("XADD", "x", "*", "f", strings.Repeat("x", 30_000)); err != nil {
			return err
		}
	}
	return nil
}

func channels(c *client) error {
	for i := range 1000 {
		if _, err := c.do("SUBSCRIBE", strings.Repeat("a", 500)+strconv.Itoa(i)); err != nil {
			return err
		}
	}
	return nil
}

// attacking measures the latency of another client while a call computes.
func attacking(o *options, parent string) error {
	fmt.Fprintf(o.out, "Latency of a GET every %v while another client repeats a call for %v:\n\n", getEvery, attackFor)
	servers := []rival{rivals(o)[0], redisServer}
	fmt.Fprintf(o.out, "| beside | %s, slowest GET | 99.9 %% | %s, slowest GET | 99.9 %% | meowdis : Redis |\n|---|---:|---:|---:|---:|---:|\n",
		servers[0].name, strings.Fields(servers[1].name)[0])
	var failed []error
	for _, a := range attacks {
		if !strings.Contains(a.what, o.slow) {
			continue
		}
		fmt.Fprintf(o.out, "| %s ", a.what)
		var slowest [2]time.Duration
		for i, r := range servers {
			if i > 0 && o.alone {
				fmt.Fprint(o.out, "| – | – ")
				continue
			}
			waits, err := attackOn(parent, r, a)
			if err != nil {
				fmt.Fprint(o.out, "| – | – ")
				if i == 0 {
					failed = append(failed, fmt.Errorf("%s: %w", a.what, err))
				}
				continue
			}
			slowest[i] = waits.Max
			fmt.Fprintf(o.out, "| %s | %s ", round(waits.Max), round(waits.Quantile(0.999)))
		}
		if slowest[0] > 0 && slowest[1] > 0 {
			fmt.Fprintf(o.out, "| %.2f× |\n", ratio(slowest[0], slowest[1]))
		} else {
			fmt.Fprintln(o.out, "| – |")
		}
		o.goals.within("slowest GET beside "+a.what, slowest[0], 50*time.Millisecond)
	}
	fmt.Fprintln(o.out)
	return errors.Join(failed...)
}

// attackOn returns the latencies of the GETs during an attack on a server.
func attackOn(parent string, r rival, a attack) (waits histogram.Distribution, err error) {
	dir, err := os.MkdirTemp(parent, "attack")
	if err != nil {
		return waits, err
	}
	defer os.RemoveAll(dir)
	server, err := start(r, dir)
	if err != nil {
		return waits, err
	}
	defer server.stop()
	var clients [3]*client
	for i := range clients {
		conn, err := net.Dial("tcp", "127.0.0.1:"+server.port)
		if err != nil {
			return waits, err
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(time.Minute))
		clients[i] = &client{conn, resp.NewReader(conn)}
	}
	if a.fill != nil {
		if err := a.fill(clients[0]); err != nil {
			return waits, err
		}
	}
	if _, err := clients[1].do("SET", "bystander", "v"); err != nil {
		return waits, err
	}
	call, err := a.prepare(clients[1])
	if err != nil {
		return waits, err
	}
	if call != nil {
		if _, err := clients[2].do(call...); err != nil { // also does work that only the first call needs
			return waits, err
		}
	}
	var running sync.WaitGroup
	until := time.Now().Add(attackFor)
	var failed error
	running.Go(func() {
		for call != nil && failed == nil && time.Now().Before(until) {
			_, failed = clients[2].do(call...)
		}
	})
	for err == nil && time.Now().Before(until) {
		began := time.Now()
		_, err = clients[1].do("GET", "bystander")
		waits.Add(time.Since(began))
		time.Sleep(getEvery)
	}
	running.Wait()
	return waits, errors.Join(err, failed)
}

// prepare returns the call with the payload of the key s in place of {dump}.
func (a attack) prepare(c *client) ([]string, error) {
	call := a.call
	for i, word := range call {
		if word == "{dump}" {
			payload, err := c.do("DUMP", "s")
			if err != nil {
				return nil, err
			}
			call = append(append(call[:i:i], string(payload.Str)), call[i+1:]...)
		}
	}
	return call, nil
}
