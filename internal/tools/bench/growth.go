package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// The numbers of elements and keys that growth measures, besides the maximum set by flags.
var (
	elements  = []int{10, 1_000, 10_000, 100_000}
	databases = []int{1_000, 10_000, 100_000, 1_000_000}
)

// probe is a command to time on a key with n elements. {mid} stands for n/2, {i} for the
// number of the repetition, and {midkey} and {key} for the names of the keys with these
// numbers. undo restores the key, and is not timed.
type probe struct {
	line, undo string
	times      int // repetitions; 0 for repeats
}

const repeats = 31

// subject is a type of key, with the command to fill a key and the commands to time.
type subject struct {
	name   string
	keys   bool                 // elements are the keys of a database
	fill   string               // the command that adds elements
	unit   func(i int) []string // the words that add element i
	probes []probe
}

func numbered(formats ...string) func(i int) []string {
	return func(i int) []string {
		words := make([]string, len(formats))
		for k, f := range formats {
			words[k] = f + strconv.Itoa(i)
		}
		return words
	}
}

var subjects = []subject{
	{"string of 64-bit integers", false, "BITFIELD k", func(i int) []string { return []string{"SET", "i64", "#" + strconv.Itoa(i), "-1"} }, []probe{
		{line: "STRLEN k"}, {line: "GETBIT k {mid}"}, {line: "SETBIT k {mid} 0", undo: "SETBIT k {mid} 1"},
		{line: "GETRANGE k {mid} {mid}"}, {line: "GETRANGE k -10 -1"}, {line: "SETRANGE k {mid} x"}, {line: "APPEND k x"},
		{line: "BITFIELD k INCRBY i64 #{mid} 1"}, {line: "BITCOUNT k", times: 5}, {line: "GET k", times: 5},
	}},
	{"list", false, "RPUSH k", numbered("e"), []probe{
		{line: "LLEN k"}, {line: "LINDEX k 7"}, {line: "LINDEX k -7"}, {line: "LINDEX k {mid}"},
		{line: "LRANGE k 0 9"}, {line: "LRANGE k -10 -1"}, {line: "LRANGE k {mid} {mid}"},
		{line: "LPUSH k x", undo: "LPOP k"}, {line: "RPUSH k x", undo: "RPOP k"},
		{line: "LPOP k", undo: "LPUSH k x"}, {line: "RPOP k", undo: "RPUSH k x"},
		{line: "LSET k 3 y"}, {line: "LPOS k none", times: 3},
	}},
	{"hash", false, "HSET k", numbered("f", "v"), []probe{
		{line: "HLEN k"}, {line: "HGET k f{mid}"}, {line: "HSET k f{i} w"}, {line: "HSET k new{i} w", undo: "HDEL k new{i}"},
		{line: "HINCRBY k number{i} 1", undo: "HDEL k number{i}"}, {line: "HDEL k f{i}", undo: "HSET k f{i} v"},
		{line: "HSCAN k 2000000000000000 COUNT 10"}, {line: "HRANDFIELD k 3"}, {line: "HEXPIRE k 100 FIELDS 1 f{i}", undo: "HPERSIST k FIELDS 1 f{i}"},
	}},
	{"set", false, "SADD k", numbered("m"), []probe{
		{line: "SCARD k"}, {line: "SISMEMBER k m{mid}"}, {line: "SADD k new{i}", undo: "SREM k new{i}"}, {line: "SREM k m{i}", undo: "SADD k m{i}"},
		{line: "SPOP k", undo: "SADD k again{i}"}, {line: "SRANDMEMBER k 3"}, {line: "SSCAN k 2000000000000000 COUNT 10"},
	}},
	{"zset", false, "ZADD k", func(i int) []string { return []string{strconv.Itoa(i), "m" + strconv.Itoa(i)} }, []probe{
		{line: "ZCARD k"}, {line: "ZSCORE k m{mid}"}, {line: "ZADD k {i} m{i}"}, {line: "ZADD k {mid} new{i}", undo: "ZREM k new{i}"},
		{line: "ZINCRBY k 0.5 m{i}"}, {line: "ZREM k m{i}", undo: "ZADD k {i} m{i}"},
		{line: "ZRANGEBYSCORE k {mid} +inf LIMIT 0 10"}, {line: "ZRANGE k 0 9"}, {line: "ZRANGE k -10 -1"}, {line: "ZRANGE k {mid} {mid}"},
		{line: "ZRANK k m7"}, {line: "ZRANK k m{mid}"}, {line: "ZCOUNT k -inf +inf", times: 5},
		{line: "ZPOPMIN k", undo: "ZADD k -{i} low{i}"}, {line: "ZSCAN k 2000000000000000 COUNT 10"},
	}},
	{"stream", false, "XADD k", func(i int) []string { return []string{"0-" + strconv.Itoa(i+1), "f", "v"} }, []probe{
		{line: "XLEN k"}, {line: "XADD k 1-* f v"}, {line: "XRANGE k 0-{mid} + COUNT 10"}, {line: "XREVRANGE k + - COUNT 10"},
		{line: "XREAD COUNT 10 STREAMS k 0-{mid}"}, {line: "XDEL k 0-{i}"},
	}},
	{"any key, here a hash", false, "HSET k", numbered("f", "v"), []probe{
		{line: "TYPE k"}, {line: "EXPIRE k 1000"}, {line: "RENAME k l", undo: "RENAME l k"},
		{line: "COPY k l REPLACE", undo: "DEL l", times: 1}, {line: "DEL k", times: 1},
	}},
	{"database", true, "MSET", func(i int) []string { return []string{keyName(i), "value:" + strconv.Itoa(i)} }, []probe{
		{line: "GET {midkey}"}, {line: "SET {midkey} w"}, {line: "SET new:{i} w", undo: "DEL new:{i}"},
		{line: "INCR number:{i}", undo: "DEL number:{i}"}, {line: "DEL {key}", undo: "SET {key} v"},
		{line: "EXPIRE {key} 1000"}, {line: "RENAME {key} other", undo: "RENAME other {key}"},
		{line: "DBSIZE"}, {line: "RANDOMKEY"}, {line: "SCAN 2000000000000000 COUNT 10"}, {line: "FLUSHALL", times: 1},
	}},
}

// sizes returns the numbers of elements or keys to measure, up to the maximum in o. The
// biggest database is the biggest file, and is skipped if the disk has no space for it.
func sizes(o *options, keys bool) ([]int, error) {
	all, most := elements, o.elements
	if keys {
		all, most = databases, o.inspected
	}
	all = slices.DeleteFunc(slices.Clone(all), func(n int) bool { return n >= most })
	if keys {
		if _, err := o.biggest(); errors.Is(err, errNotMeasured) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
	}
	return append(all, most), nil
}

// growth times commands on keys and databases of growing size, in this process and on a file.
func growth(o *options, dir string) error {
	for _, keys := range []bool{false, true} {
		what := "Time of a command by number of elements of the key"
		if keys {
			what = "Time of a command by number of keys in the database"
		}
		fmt.Fprintf(o.out, "%s, in one process on a file, median of %d, in µs;\n", what, repeats)
		fmt.Fprint(o.out, "the last column is the ratio for a thousand times the size:\n\n| ")
		columns, err := sizes(o, keys)
		if err != nil {
			return err
		}
		for _, n := range columns {
			fmt.Fprintf(o.out, "| %d ", n)
		}
		fmt.Fprintln(o.out, "| growth |")
		fmt.Fprintln(o.out, "|---|"+strings.Repeat("---:|", len(columns)+1))
		for _, s := range subjects {
			if s.keys != keys {
				continue
			}
			if err := s.grow(o, dir, columns); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		fmt.Fprintln(o.out)
	}
	return nil
}

// grow prints and plots the rows of a subject.
func (s subject) grow(o *options, dir string, sizes []int) error {
	took := make([]curve, len(s.probes))
	for i, p := range s.probes {
		took[i].name = p.line
	}
	for _, n := range sizes {
		if err := s.measure(o, dir, n, took); err != nil {
			return err
		}
	}
	for _, c := range took {
		s.printCurve(o.out, c, sizes)
	}
	if o.plots == "" {
		return nil
	}
	what := "elements of a " + s.name
	if s.keys {
		what = "keys of a database"
	}
	name, _, _ := strings.Cut(s.name, " ")
	return plot(filepath.Join(o.plots, "growth-"+name+".svg"), what, sizes, took)
}

// measure appends the times of the probes in a file of size n to took.
func (s subject) measure(o *options, dir string, n int, took []curve) error {
	biggest := s.keys && n == o.inspected
	file := filepath.Join(dir, s.name+strconv.Itoa(n)+".sqlite")
	if biggest {
		file = o.biggestName()
	}
	f, err := local.Open(file, local.Options{})
	if err != nil {
		return err
	}
	run := session{engine.New(f).Session()}
	if !biggest {
		if err := run.fill(s, n); err != nil {
			return err
		}
	}
	for i, p := range s.probes {
		d, err := run.time(p, n)
		if err != nil {
			return fmt.Errorf("%s: %w", p.line, err)
		}
		took[i].took = append(took[i].took, d)
	}
	return errors.Join(f.Close(), os.Remove(file))
}

// printCurve prints the times of a probe in µs, and their growth from a thousand to a million.
func (s subject) printCurve(out io.Writer, c curve, sizes []int) {
	fmt.Fprintf(out, "| %s: `%s` ", s.name, c.name)
	for _, d := range c.took {
		fmt.Fprintf(out, "| %.0f ", float64(d)/float64(time.Microsecond))
	}
	million := slices.Index(sizes, 1_000_000)
	if million < 0 {
		fmt.Fprintln(out, "| |")
		return
	}
	thousand := slices.Index(sizes, 1_000)
	fmt.Fprintf(out, "| %.1f |\n", float64(c.took[million])/float64(c.took[thousand]))
}

type session struct{ *engine.Session }

// fill adds n elements, a thousand per command, or one if the command takes only one.
func (s session) fill(sub subject, n int) error {
	per := 1000
	if sub.name == "stream" {
		per = 1
	}
	var calls [][][]byte
	for i := 0; i < n; i += per {
		line := strings.Fields(sub.fill)
		for j := i; j < min(i+per, n); j++ {
			line = append(line, sub.unit(j)...)
		}
		if calls = append(calls, words(line)); len(calls) == 100 || i+per >= n {
			if err := s.all(calls); err != nil {
				return err
			}
			calls = calls[:0]
		}
	}
	return nil
}

func (s session) all(calls [][][]byte) error {
	replies, err := s.Pipeline(context.Background(), calls)
	if err != nil {
		return err
	}
	for _, r := range replies {
		if r.HasError() {
			return fmt.Errorf("%s", resp.AppendTyped(nil, r, false))
		}
	}
	return nil
}

// time returns the median time of the probe.
func (s session) time(p probe, n int) (time.Duration, error) {
	var took []time.Duration
	for i := range cmp.Or(p.times, repeats) {
		start := time.Now()
		if err := s.one(p.line, n, i); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
		if p.undo == "" {
			continue
		}
		if err := s.one(p.undo, n, i); err != nil {
			return 0, err
		}
	}
	return median(took), nil
}

func (s session) one(line string, n, i int) error {
	line = strings.NewReplacer("{mid}", strconv.Itoa(n/2), "{i}", strconv.Itoa(i), "{midkey}", keyName(n/2), "{key}", keyName(i)).Replace(line)
	return s.all([][][]byte{words(strings.Fields(line))})
}

func words(fields []string) [][]byte {
	args := make([][]byte, len(fields))
	for i, f := range fields {
		args[i] = []byte(f)
	}
	return args
}
