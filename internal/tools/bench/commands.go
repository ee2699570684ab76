package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
)

// timed is a command, and a command that creates its data: {n} is a different number each
// time.
type timed struct{ line, found string }

var commandsTimed = []timed{
	{"GET key:{n}", "SET key:{n} xxxxxxxxxx"}, {"SET key:{n} xxxxxxxxxx", ""}, {"SET key:{n} yyyyyyyyyy", "SET key:{n} xxxxxxxxxx"},
	{"SET key:{n} x EX 100", ""}, {"SETNX key:{n} x", ""}, {"SETNX key:{n} x", "SET key:{n} y"}, {"GETSET key:{n} y", "SET key:{n} x"},
	{"GETDEL key:{n}", "SET key:{n} x"}, {"APPEND key:{n} y", "SET key:{n} x"}, {"INCR key:{n}", "SET key:{n} 7"},
	{"INCRBYFLOAT key:{n} 0.5", "SET key:{n} 7"}, {"DEL key:{n}", "SET key:{n} x"}, {"EXISTS key:{n}", "SET key:{n} x"},
	{"EXPIRE key:{n} 100", "SET key:{n} x"}, {"MGET key:{n} a b", "SET key:{n} x"},
	{"HGET h:{n} a", "HSET h:{n} a 1 b 2"}, {"HGETALL h:{n}", "HSET h:{n} a 1 b 2"}, {"HMGET h:{n} a b c", "HSET h:{n} a 1 b 2"},
	{"HSET h:{n} a 1", ""}, {"HSET hash f{n} 1", ""}, {"HSET h:{n} a x", "HSET h:{n} a 1 b 2"},
	{"HSET h:{n} a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8", ""}, {"HSET h:{n} a 5 b 6 c 7 d 8", "HSET h:{n} a 1 b 2 c 3 d 4"},
	{"HINCRBY h:{n} a 1", "HSET h:{n} a 1 b 2"}, {"HINCRBYFLOAT h:{n} a 1", "HSET h:{n} a 1 b 2"}, {"HDEL h:{n} a", "HSET h:{n} a 1 b 2"},
	{"LPUSH list x{n}", ""}, {"RPOP list", "RPUSH list x{n}"}, {"LRANGE list 0 9", "RPUSH list x{n}"}, {"LRANGE list 0 99", "RPUSH list x{n}"},
	{"LMOVE list other LEFT RIGHT", "RPUSH list x{n}"},
	{"SADD set x{n}", ""}, {"SADD set x{n}", "SADD set x{n}"}, {"SADD set x{n} y{n} z{n}", ""}, {"SISMEMBER set x{n}", "SADD set x{n}"},
	{"SMEMBERS s:{n}", "SADD s:{n} a b c"}, {"SPOP set", "SADD set x{n}"}, {"SRANDMEMBER set", "SADD set x{n}"},
	{"ZADD zset {n} x{n}", ""}, {"ZADD zset {n} x{n}", "ZADD zset 5 x{n}"}, {"ZINCRBY zset 1 x{n}", "ZADD zset {n} x{n}"},
	{"ZRANGE zset 0 9 WITHSCORES", "ZADD zset {n} x{n}"}, {"ZPOPMIN zset", "ZADD zset {n} x{n}"},
	{"XADD stream * field x{n}", ""},
}

// A round runs a command commandsARound times, in pipelines, on a new file. The fastest round
// counts: other work of the machine only makes rounds slower.
const (
	commandsARound = 4001 // a prime, so any step visits every number
	pipelineLength = 100
	fastestOf      = 7
)

// timing measures commands in one process: engine, translator and SQLite, without sockets.
func timing(o *options, parent string) error {
	fmt.Fprintf(o.out, "µs of a command in pipelines of %d, the fastest of %d rounds of %d:\n\n| | where there was | µs |\n|---|---|---:|\n", pipelineLength, fastestOf, commandsARound)
	for i, c := range commandsTimed {
		fastest := time.Duration(math.MaxInt64)
		for round := range fastestOf {
			took, err := c.round(filepath.Join(parent, fmt.Sprintf("commands.%d.%d", i, round)))
			if err != nil {
				return fmt.Errorf("%s: %w", c.line, err)
			}
			fastest = min(fastest, took)
		}
		found := ""
		if c.found != "" {
			found = "`" + c.found + "`"
		}
		fmt.Fprintf(o.out, "| `%s` | %s | %.1f |\n", c.line, found, float64(fastest.Nanoseconds())/1000/commandsARound)
	}
	fmt.Fprintln(o.out)
	return nil
}

func (c timed) round(path string) (took time.Duration, err error) {
	file, err := local.Open(path, local.Options{SweepEvery: -1})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	session := engine.New(file).Session()
	if c.found != "" {
		if err := inPipelines(session, c.found); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	err = inPipelines(session, c.line)
	return time.Since(began), err
}

// inPipelines runs a command for each n, in pseudo-random order.
func inPipelines(s *engine.Session, line string) error {
	words := strings.Fields(line)
	for from := 0; from < commandsARound; from += pipelineLength {
		var calls [][][]byte
		for i := from; i < min(from+pipelineLength, commandsARound); i++ {
			n := strconv.Itoa(i * 617 % commandsARound)
			call := make([][]byte, len(words))
			for k, word := range words {
				call[k] = []byte(strings.ReplaceAll(word, "{n}", n))
			}
			calls = append(calls, call)
		}
		replies, err := s.Pipeline(context.Background(), calls)
		if err != nil {
			return err
		}
		for i, v := range replies {
			if v.IsError() {
				return fmt.Errorf("%q: %s", calls[i], v.Str)
			}
		}
	}
	return nil
}
