package soak

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/internal/test/storetest"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
)

// session is a client of a server, over either protocol.
type session interface {
	keyspace.Client
	Close() error
}

// writer is a kind of client. It writes the numbers 1, 2, … one after the other, each by one
// request, under names that begin with its own.
type writer struct {
	kind string
	// write writes n. An errorReply is wrong; any other error means that it is unknown
	// whether it did.
	write func(s session, name string, n int) error
	// look returns the number that is there, 0 for none, and reports what is half there.
	look  func(c *storetest.Client, name string) (int, error)
	rest  bool // only over REST, where a pipeline is one request
	redis bool // only over the Redis protocol: bytes that are no text are in the URL of a REST request
	// beside is what another client does meanwhile, on the other server; nil for nothing.
	beside func(s session, name string) error
}

// speaks reports whether it writes over REST, or else over the Redis protocol.
func (w writer) speaks(rest bool) bool { return rest && !w.redis || !rest && !w.rest }

var writers = []writer{
	{kind: "counter", write: writeCounter, look: lookCounter},
	{kind: "transaction", write: writeTransaction, look: lookTransaction},
	{kind: "pipeline", write: writePipeline, look: lookPipeline, rest: true},
	{kind: "restore", write: writeRestore, look: lookRestore},
	{kind: "fields", write: writeFields, look: lookFields},
	{kind: "keys", write: writeKeys, look: lookKeys},
	{kind: "queue", write: writeQueue, look: lookQueue, beside: moveOn},
	{kind: "document", write: writeDocument, look: lookDocument},
	{kind: "series", write: writeSeries, look: lookSeries},
	{kind: "sketch", write: writeSketch, look: lookSketch},
	{kind: "pending", write: writePendingDeletes, look: checkPendingDeletes, redis: true},
}

func words(line string) (args [][]byte) {
	for word := range strings.FieldsSeq(line) {
		args = append(args, []byte(word))
	}
	return args
}

// errorReply is what a command answered that must succeed.
type errorReply struct{ text string }

func (e errorReply) Error() string { return e.text }

// do runs a command.
func do(s session, args [][]byte) error {
	v, err := s.Do(context.Background(), args...)
	if err == nil && v.IsError() {
		err = errorReply{fmt.Sprintf("%.80q: %s", args, v.Str)}
	}
	return err
}

// createOnce runs commands that a server has perhaps run already, and then refuses.
func createOnce(s session, lines ...string) error {
	for _, line := range lines {
		if _, err := s.Do(context.Background(), words(line)...); err != nil {
			return err
		}
	}
	return nil
}

// number reads the number in a reply as a transcript shows it, also in an array of one; it is 0 for nil.
func number(reply string) (int, error) {
	if reply == "(nil)" {
		return 0, nil
	}
	return strconv.Atoi(strings.Trim(strings.TrimPrefix(strings.TrimPrefix(reply, "1) "), "(integer) "), `"`))
}

// agree checks that all the commands answer the same number, which it returns.
func agree(c *storetest.Client, lines ...string) (n int, err error) {
	for i, line := range lines {
		m, err := number(c.Do(line))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", line, err)
		}
		if i > 0 && m != n {
			return 0, fmt.Errorf("%s is %d, and %s is %d", lines[0], n, line, m)
		}
		n = m
	}
	return n, nil
}

func writeCounter(s session, name string, n int) error { return do(s, words("INCR "+name)) }

func lookCounter(c *storetest.Client, name string) (int, error) { return agree(c, "GET "+name) }

func writeTransaction(s session, name string, n int) error {
	for _, line := range []string{
		"MULTI", "SET %s:a %d", "HSET %s:h n %d x v", "HINCRBYFLOAT %s:h f 1", "HPEXPIRE %s:h 1 FIELDS 1 x", "ZADD %s:z %d m", "EXEC",
	} {
		if strings.Contains(line, "%d") {
			line = fmt.Sprintf(line, name, n)
		} else if strings.Contains(line, "%s") {
			line = fmt.Sprintf(line, name)
		}
		if err := do(s, words(line)); err != nil {
			return err
		}
	}
	return nil
}

func lookTransaction(c *storetest.Client, name string) (int, error) {
	return agree(c, "GET "+name+":a", "HGET "+name+":h n", "HGET "+name+":h f", "ZSCORE "+name+":z m")
}

const pipelined = 30

func writePipeline(s session, name string, n int) error {
	var calls [][][]byte
	for i := range pipelined {
		calls = append(calls, words(fmt.Sprintf("SET %s:%d %d", name, i, n)))
	}
	replies, err := s.Pipeline(context.Background(), calls)
	for _, v := range replies {
		if err == nil && v.IsError() {
			err = errorReply{fmt.Sprintf("in a pipeline: %s", v.Str)}
		}
	}
	return err
}

func lookPipeline(c *storetest.Client, name string) (int, error) {
	var lines []string
	for i := range pipelined {
		lines = append(lines, fmt.Sprintf("GET %s:%d", name, i))
	}
	return agree(c, lines...)
}

// size is the elements of what is restored as number n.
func size(n int) int { return 50 + n%7*40 }

func writeRestore(s session, name string, n int) error {
	var list rdb.List
	for range size(n) {
		list = append(list, strconv.AppendInt(nil, int64(n), 10))
	}
	return do(s, [][]byte{[]byte("RESTORE"), []byte(name), []byte("0"), rdb.Dump(list, nil), []byte("REPLACE")})
}

func lookRestore(c *storetest.Client, name string) (int, error) {
	n, err := agree(c, "LINDEX "+name+" 0", "LINDEX "+name+" -1")
	if length, _ := number(c.Do("LLEN " + name)); err == nil && n > 0 && length != size(n) {
		err = fmt.Errorf("%s has %d elements of %d", name, length, size(n))
	}
	return n, err
}

// A hash keeps a field beside those that expire at once, two of which are alive or dead
// whenever the server is killed.
func writeFields(s session, name string, n int) error {
	if err := do(s, words(fmt.Sprintf("HSET %s keep %d gone%d v", name, n, n))); err != nil {
		return err
	}
	for _, line := range []string{"HPEXPIRE %s 1 FIELDS 1 gone%d", "HSETEX %s PX 2 FIELDS 1 too%d v"} {
		if err := do(s, words(fmt.Sprintf(line, name, n))); err != nil {
			return err
		}
	}
	return nil
}

func lookFields(c *storetest.Client, name string) (int, error) { return agree(c, "HGET "+name+" keep") }

// Keys that expire at once, of which one stays.
func writeKeys(s session, name string, n int) error {
	if err := do(s, words(fmt.Sprintf("MSET %s %d %s:gone%d v", name, n, name, n))); err != nil {
		return err
	}
	return do(s, words(fmt.Sprintf("PEXPIRE %s:gone%d 1", name, n)))
}

func lookKeys(c *storetest.Client, name string) (int, error) { return agree(c, "GET "+name) }

// largeKey is the elements of a key that leaves them to the sweep when it goes, for several slices.
const largeKey = 1500

// A key of many elements takes the place of another one of the next type: its elements are in a
// pending delete whenever the server is killed.
func writePendingDeletes(s session, name string, n int) error {
	value := strconv.AppendInt(nil, int64(n), 10)
	var list rdb.List
	var hash rdb.Hash
	var zset rdb.ZSet
	for i := range largeKey {
		element := strconv.AppendInt(nil, int64(i), 10)
		list = append(list, value)
		hash = append(hash, rdb.Field{Name: element, Value: value})
		zset = append(zset, rdb.Member{Name: element, Score: float64(n)})
	}
	dump := rdb.Dump([]rdb.Value{list, hash, zset}[n%3], nil)
	return do(s, [][]byte{[]byte("RESTORE"), []byte(name), []byte("0"), dump, []byte("REPLACE")})
}

func checkPendingDeletes(c *storetest.Client, name string) (n int, err error) {
	count := ""
	switch typ := c.Do("TYPE " + name); typ {
	case "none":
		return 0, nil
	case "list":
		n, err = agree(c, "LINDEX "+name+" 0", "LINDEX "+name+" -1")
		count = "LLEN "
	case "hash":
		n, err = agree(c, "HGET "+name+" 0", "HGET "+name+" "+strconv.Itoa(largeKey-1))
		count = "HLEN "
	default:
		n, err = agree(c, "ZSCORE "+name+" 0", "ZSCORE "+name+" "+strconv.Itoa(largeKey-1))
		count = "ZCARD "
	}
	if length, _ := number(c.Do(count + name)); err == nil && length != largeKey {
		err = fmt.Errorf("%s has %d elements of %d", name, length, largeKey)
	}
	return n, err
}

// A queue is written by one client, and read by one that waits.
func writeQueue(s session, name string, n int) error {
	return do(s, words(fmt.Sprintf("RPUSH %s:queue %d", name, n)))
}

func moveOn(s session, name string) error {
	return do(s, words(fmt.Sprintf("BLMOVE %s:queue %s:done LEFT RIGHT 0", name, name)))
}

func lookQueue(c *storetest.Client, name string) (n int, err error) {
	for _, list := range []string{":done", ":queue"} {
		length, _ := number(c.Do("LLEN " + name + list))
		for i := range length {
			at, err := number(c.Do(fmt.Sprintf("LINDEX %s %d", name+list, i)))
			if n++; err != nil || at != n {
				return n, fmt.Errorf("%s has %d where %d should be", name+list, at, n)
			}
		}
	}
	return n, nil
}

// documents counts the hashes that a client overwrites in turn. An index has each of them.
const documents = 20

func tagOf(name string) string { return strings.ReplaceAll(name, ":", "") }

func writeDocument(s session, name string, n int) error {
	if n == 1 {
		if err := createOnce(s, "FT.CREATE documents PREFIX 1 document: SCHEMA body TEXT n NUMERIC writer TAG"); err != nil {
			return err
		}
	}
	return do(s, [][]byte{[]byte("HSET"), fmt.Appendf(nil, "%s:%d", name, n%documents), []byte("body"),
		fmt.Appendf(nil, "shared word%d of%d", n%7, n), []byte("n"), strconv.AppendInt(nil, int64(n), 10), []byte("writer"), []byte(tagOf(name))})
}

func lookDocument(c *storetest.Client, name string) (n int, err error) {
	for i := range documents {
		at, err := number(c.Do(fmt.Sprintf("HGET %s:%d n", name, i)))
		if err != nil {
			return 0, err
		}
		n = max(n, at)
	}
	if n == 0 {
		return 0, nil
	}
	for query, want := range map[string]int{
		fmt.Sprintf("shared @writer:{%s}", tagOf(name)):                               min(n, documents),
		fmt.Sprintf("of%d word%d @n:[%d %d] @writer:{%s}", n, n%7, n, n, tagOf(name)): 1,
	} {
		if found, err := number(c.Do(fmt.Sprintf("FT.SEARCH documents %q LIMIT 0 0", query))); err != nil || found != want {
			return n, fmt.Errorf("%q finds %d documents of %d, %v", query, found, want, err)
		}
	}
	return n, nil
}

// A time series has a sample at each millisecond, and a rule sums those of ten.
func writeSeries(s session, name string, n int) error {
	if n == 1 {
		if err := createOnce(s, "TS.CREATE "+name+":all", "TS.CREATE "+name+":ten",
			"TS.CREATERULE "+name+":all "+name+":ten AGGREGATION sum 10"); err != nil {
			return err
		}
	}
	return do(s, words(fmt.Sprintf("TS.ADD %s:all %d 1", name, n)))
}

func lookSeries(c *storetest.Client, name string) (int, error) {
	if c.Do("EXISTS "+name+":all") == "(integer) 0" {
		return 0, nil
	}
	total := func(key string) (int, error) {
		reply := c.Do("TS.RANGE " + key + " - + AGGREGATION sum 1000000000")
		if reply == "(empty array)" {
			return 0, nil
		}
		_, value, _ := strings.Cut(reply, "2) ")
		return number(value)
	}
	n, err := total(name + ":all")
	if err != nil {
		return n, err
	}
	summed, err := total(name + ":ten")
	if want := max(0, n/10*10-1); err == nil && summed != want { // the first bucket lacks millisecond 0
		err = fmt.Errorf("%s:ten sums %d samples of %d", name, summed, want)
	}
	return n, err
}

func writeSketch(s session, name string, n int) error {
	if n == 1 {
		if err := createOnce(s, "CMS.INITBYDIM "+name+":cms 100 3", "BF.RESERVE "+name+":bf 0.0000001 100000", "JSON.SET "+name+":json $ 0"); err != nil {
			return err
		}
	}
	for _, line := range []string{"MULTI", "CMS.INCRBY %s:cms x 1", "BF.ADD %s:bf %d", "JSON.NUMINCRBY %s:json . 1", "EXEC"} {
		switch strings.Count(line, "%") {
		case 1:
			line = fmt.Sprintf(line, name)
		case 2:
			line = fmt.Sprintf(line, name, n)
		}
		if err := do(s, words(line)); err != nil {
			return err
		}
	}
	return nil
}

func lookSketch(c *storetest.Client, name string) (int, error) {
	if c.Do("EXISTS "+name+":json") == "(integer) 0" {
		return 0, nil
	}
	return agree(c, "CMS.QUERY "+name+":cms x", "BF.CARD "+name+":bf", "JSON.GET "+name+":json")
}
