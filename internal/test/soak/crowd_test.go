package soak

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// allTypes are commands that never fail, on few keys with few elements: @ is the number of
// a key, # that of an element.
var allTypes = strings.Split(strings.TrimSpace(`
SET t:s:@ v# PX 5000
SET t:s:@ v#
GET t:s:@
GETEX t:s:@ PX 1
INCRBY t:n:@ #
INCRBYFLOAT t:n:@ 0
SETRANGE t:o:@ # xyz
GETRANGE t:o:@ 0 #
SETBIT t:b:@ #000 1
BITCOUNT t:b:@
BITOP XOR t:b:0 t:b:@ t:b:1
BITFIELD t:b:@ INCRBY u8 # 1
PFADD t:p:@ m#
PFMERGE t:p:0 t:p:@
PFCOUNT t:p:@
RPUSH t:l:@ #
LTRIM t:l:@ -100 -1
LMOVE t:l:@ t:l:1 LEFT RIGHT
LRANGE t:l:@ 0 -1
SORT t:l:@
HSET t:h:@ keep 1 f# #
HEXPIRE t:h:@ 1 FIELDS 1 f#
HPEXPIRE t:h:@ 1 FIELDS 2 f# f1
HSETEX t:h:@ PX 300 FIELDS 1 f# #
HINCRBYFLOAT t:h:@ f# 1.5
HDEL t:h:@ f#
HGETALL t:h:@
HRANDFIELD t:h:@ 3 WITHVALUES
SADD t:e:@ m#
SREM t:e:@ m#
SINTERSTORE t:e:0 t:e:@ t:e:1
SDIFF t:e:@ t:e:1
SPOP t:e:@ 2
ZADD t:z:@ # m#
ZINCRBY t:z:@ 1 m#
ZUNIONSTORE t:z:0 2 t:z:@ t:z:1
ZRANGE t:z:@ 0 -1 WITHSCORES
ZPOPMIN t:z:@ 2
GEOADD t:g:@ 13.# 52.# m#
GEOSEARCH t:g:@ FROMLONLAT 13 52 BYRADIUS 100 km
XADD t:x:@ MAXLEN 100 * f #
XRANGE t:x:@ - + COUNT 10
XADD group MAXLEN 100 * f #
XREADGROUP GROUP g c@ COUNT 5 STREAMS group >
XAUTOCLAIM group g c@ 0 0 COUNT 3
JSON.MERGE t:j:@ $ {"n":#,"a":[1,2,{"b":"#"}]}
JSON.GET t:j:@ $..b
VADD t:v:@ VALUES 3 1 2 # m#
VSIM t:v:@ VALUES 3 1 2 3 COUNT 5
VREM t:v:@ m#
ARSET t:r:@ # v
ARGETRANGE t:r:@ 0 20
ARDEL t:r:@ #
DEL t:s:@ t:h:@
UNLINK t:x:@ t:v:@ t:j:@
PEXPIRE t:z:@ #
EXPIRE t:e:@ 1
COPY t:l:@ t:y:0 REPLACE
COPY t:v:@ t:w:1 REPLACE
TYPE t:h:@
SCAN 0 COUNT 100
RANDOMKEY
DBSIZE
`), "\n")

// useAllTypes runs any of those, one by one and in pipelines.
func (c *crowd) useAllTypes(i int) {
	s, err := c.server.dial(i%2 == 0)
	if c.unexpected("all types", err) {
		return
	}
	defer s.Close()
	for c.here.Err() == nil {
		calls := make([][][]byte, 1+rand.N(2)*rand.N(10))
		for i := range calls {
			calls[i] = anyType()
		}
		replies, err := s.Pipeline(context.Background(), calls)
		for i, v := range replies {
			if err == nil && v.IsError() && !c.refused(string(v.Str)) {
				err = errorReply{fmt.Sprintf("%q: %s", calls[i], v.Str)}
			}
		}
		if c.unexpected("all types", err) {
			return
		}
		c.seen.used.Add(int64(len(calls)))
	}
}

// anyType is one of them with numbers.
func anyType() [][]byte {
	numbers := strings.NewReplacer("@", strconv.Itoa(rand.N(10)), "#", strconv.Itoa(1+rand.N(300)))
	args := words(allTypes[rand.N(len(allTypes))])
	for i := range args[1:] {
		args[i+1] = []byte(numbers.Replace(string(args[i+1])))
	}
	return args
}

// askTooMuch asks for more than a request may hold, and for as much as it may.
func (c *crowd) askTooMuch(i int) {
	s, err := c.server.dial(i%4 == 0)
	if c.unexpected("large requests", err) {
		return
	}
	defer s.Close()
	for c.here.Err() == nil {
		err := do(s, words([]string{"MGET big big big big", "MGET big", "SRANDMEMBER t:e:1 -1000000", "GET big"}[rand.N(4)]))
		var reply errorReply
		if !(errors.As(err, &reply) && c.refused(reply.text)) && c.unexpected("large requests", err) {
			return
		}
		c.pause(rand.N(100 * time.Millisecond))
	}
}

// refused reports whether an error is that there is no room for what was asked.
func (c *crowd) refused(text string) bool {
	switch {
	case strings.Contains(text, "ERR request memory limit exceeded"):
		c.seen.tooMuch.Add(1)
	case strings.Contains(text, "OOM server memory limit reached"):
		c.seen.noRoom.Add(1)
	default:
		return false
	}
	return true
}

// raw connects without knowing any protocol.
func (c *crowd) raw(url string) net.Conn {
	_, address, _ := strings.Cut(url, "://")
	conn, err := net.Dial("tcp", address)
	if c.unexpected("connecting", err) {
		return nil
	}
	return conn
}

// cut is what clients have sent when they hang up, by whether it is over REST.
var cut = map[bool][]string{
	false: {
		"*3\r\n$3\r\nSET\r\n$6\r\nt:cut:", "*3\r\n$3\r\nSET\r\n$5\r\nt:s:1\r\n$1000000\r\nxxxx", "MULTI\r\nSET t:s:1 v\r\n", "GET big\r\nGET big\r\nGET big\r\n",
		strings.Repeat("INCR t:n:1\r\nHSET t:h:1 f1 1\r\nLRANGE t:l:1 0 -1\r\n", 300), "SORT t:l:1\r\nWATCH t:s:1\r\n", "",
	},
	true: {
		"GET /get/big HTTP/1.1\r\nHost: x\r\nAuth", "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 100000\r\n\r\n[\"SET\",\"t:s:1\",\"",
		"GET /get/big HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n\r\n", "GET /set/t:s:1/v HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n\r\n", "",
	},
}

// hangUp leaves in the middle, now with a FIN and now with a RST.
func (c *crowd) hangUp(int) {
	for c.here.Err() == nil {
		overREST := rand.N(2) == 0
		url := c.server.redis
		if overREST {
			url = c.server.rest
		}
		conn := c.raw(url)
		if conn == nil {
			return
		}
		fmt.Fprint(conn, cut[overREST][rand.N(len(cut[overREST]))])
		if rand.N(2) == 0 {
			conn.(*net.TCPConn).SetLinger(0)
		}
		c.pause(rand.N(time.Second))
		conn.Close()
		c.seen.hungUp.Add(1)
	}
}

// neverRead asks for what no socket keeps and reads none of it, until it is given up.
func (c *crowd) neverRead(i int) {
	for c.here.Err() == nil {
		url, ask := c.server.redis, strings.Repeat("GET big\r\n", 20)
		if i%4 == 1 {
			url, ask = c.server.rest, strings.Repeat("GET /mget/big/big HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+token+"\r\n\r\n", 10)
		}
		conn := c.raw(url)
		if conn == nil {
			return
		}
		conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		stop := context.AfterFunc(c.here, func() { conn.Close() })
		var err error
		for err == nil { // until the server is gone
			_, err = fmt.Fprint(conn, ask)
			c.pause(100 * time.Millisecond)
		}
		if stop() && !c.ending.Load() {
			c.seen.givenUp.Add(1)
		}
		conn.Close()
	}
}

// lock begins to write to a file as another process would, until free is called.
func lock(path string) (free func() error, err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(context.Background())
	if err == nil {
		_, err = conn.ExecContext(context.Background(), "PRAGMA busy_timeout = 60000; BEGIN IMMEDIATE")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return func() error {
		_, err := conn.ExecContext(context.Background(), "ROLLBACK")
		return errors.Join(err, conn.Close(), db.Close())
	}, nil
}

// allLeft waits until the server has noticed that all of its clients have left.
func allLeft(t *testing.T, p *process) {
	t.Helper()
	s, err := p.dial(false)
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		v, err := s.Do(t.Context(), words("INFO clients")...)
		if err != nil {
			t.Error(err)
			return
		}
		if strings.Contains(string(v.Str), "connected_clients:1\r\n") {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("all clients have left, and there are\n%s", v.Str)
			return
		}
	}
}
