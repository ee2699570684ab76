package golang

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
)

func TestRedigo(t *testing.T) {
	pool := &redis.Pool{MaxIdle: 3, MaxActive: 5, Wait: true, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", address, redis.DialPassword(password), redis.DialReadTimeout(time.Minute))
	}, TestOnBorrow: func(c redis.Conn, _ time.Time) error {
		_, err := c.Do("PING")
		return err
	}}
	defer pool.Close()
	c := pool.Get()
	defer c.Close()

	if reply, err := redis.String(c.Do("SET", "greeting", "hello", "EX", 60)); reply != "OK" || err != nil {
		t.Errorf("SET: %q, %v", reply, err)
	}
	if _, err := redis.String(c.Do("GET", "nothing")); !errors.Is(err, redis.ErrNil) {
		t.Errorf("GET of a missing key: %v", err)
	}
	type cat struct {
		Name  string `redis:"name"`
		Lives int    `redis:"lives"`
	}
	if _, err := c.Do("HSET", redis.Args{}.Add("cat").AddFlat(cat{"kitty", 9})...); err != nil {
		t.Error(err)
	}
	var got cat
	if values, err := redis.Values(c.Do("HGETALL", "cat")); err != nil || redis.ScanStruct(values, &got) != nil || got != (cat{"kitty", 9}) {
		t.Errorf("HGETALL: %v, %v", got, err)
	}

	// a pipeline, and a transaction
	for i := range 100 {
		c.Send("RPUSH", "numbers", i)
	}
	c.Send("INCR", "greeting")
	c.Send("LLEN", "numbers")
	c.Flush()
	for i := range 100 {
		if n, err := redis.Int(c.Receive()); n != i+1 || err != nil {
			t.Fatalf("RPUSH: %d, %v", n, err)
		}
	}
	if _, err := c.Receive(); err == nil || err.Error() != "ERR value is not an integer or out of range" {
		t.Errorf("INCR of a text: %v", err)
	}
	if n, err := redis.Int(c.Receive()); n != 100 || err != nil {
		t.Errorf("LLEN: %d, %v", n, err)
	}
	c.Send("MULTI")
	c.Send("INCR", "counter")
	c.Send("INCR", "counter")
	if counts, err := redis.Ints(c.Do("EXEC")); !reflect.DeepEqual(counts, []int{1, 2}) || err != nil {
		t.Errorf("EXEC: %v, %v", counts, err)
	}
	// Scripts are sent by their digest first.
	script := redis.NewScript(1, `return redis.call("INCRBY", KEYS[1], ARGV[1])`)
	for want := 12; want <= 22; want += 10 {
		if n, err := redis.Int(script.Do(c, "counter", 10)); n != want || err != nil {
			t.Errorf("the script: %d, %v", n, err)
		}
	}

	// messages
	subscriber := redis.PubSubConn{Conn: pool.Get()}
	defer subscriber.Close()
	if err := subscriber.PSubscribe("n?ws"); err != nil {
		t.Fatal(err)
	}
	if s, ok := subscriber.Receive().(redis.Subscription); !ok || s.Kind != "psubscribe" || s.Count != 1 {
		t.Errorf("PSUBSCRIBE: %v", s)
	}
	if n, err := redis.Int(c.Do("PUBLISH", "news", "fish")); n != 1 || err != nil {
		t.Errorf("PUBLISH: %d, %v", n, err)
	}
	if m, ok := subscriber.Receive().(redis.Message); !ok || m.Channel != "news" || m.Pattern != "n?ws" || string(m.Data) != "fish" {
		t.Errorf("the message is %v", m)
	}
	if err := subscriber.Ping("still"); err != nil {
		t.Error(err)
	}
	if p, ok := subscriber.Receive().(redis.Pong); !ok || p.Data != "still" {
		t.Errorf("PING of a subscriber: %v", p)
	}

	// a client that waits
	popped := make(chan []string)
	go func() {
		waiter := pool.Get()
		defer waiter.Close()
		reply, err := redis.Strings(redis.DoWithTimeout(waiter, time.Minute, "BLPOP", "queue", 30))
		if err != nil {
			t.Error(err)
		}
		popped <- reply
	}()
	waiting(t, goRedis(t, func(*goredis.Options) {}), 1)
	if _, err := c.Do("LPUSH", "queue", "job"); err != nil {
		t.Error(err)
	}
	if reply := <-popped; !reflect.DeepEqual(reply, []string{"queue", "job"}) {
		t.Errorf("BLPOP: %v", reply)
	}
}
