package golang

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestGoRedis(t *testing.T) {
	for _, version := range []int{2, 3} {
		t.Run(fmt.Sprint("RESP", version), func(t *testing.T) {
			c := goRedis(t, func(o *redis.Options) { o.Protocol = version })
			tourStrings(t, c)
			tourCollections(t, c)
			tourPipelines(t, c)
			tourTransactions(t, c)
			tourMessages(t, c)
			tourScripts(t, c)
			tourWaits(t, c)
			tourErrors(t, c)
		})
	}
}

func goRedis(t *testing.T, change func(*redis.Options)) *redis.Client {
	t.Helper()
	o := &redis.Options{Addr: address, Password: password, ClientName: "tour", MaxRetries: -1}
	change(o)
	c := redis.NewClient(o)
	t.Cleanup(func() { c.Close() })
	return c
}

// equal fails the test unless a command answers want.
func equal[T any](t *testing.T, cmd interface{ Result() (T, error) }, want T) {
	t.Helper()
	got, err := cmd.Result()
	if err != nil {
		t.Errorf("%v: %v", cmd, err)
	} else if !reflect.DeepEqual(got, want) {
		t.Errorf("%v: want %v", cmd, want)
	}
}

func fails(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("the error is %v, not %s", err, text)
	}
}

func tourStrings(t *testing.T, c *redis.Client) {
	equal(t, c.ClientGetName(ctx), "tour")
	equal(t, c.FlushAll(ctx), "OK")
	equal(t, c.Set(ctx, "greeting", "hello", 0), "OK")
	equal(t, c.Append(ctx, "greeting", ", world"), 12)
	equal(t, c.Get(ctx, "greeting"), "hello, world")
	equal(t, c.SetNX(ctx, "greeting", "x", 0), false)
	if err := c.Get(ctx, "nothing").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("GET of a missing key: %v", err)
	}
	equal(t, c.IncrBy(ctx, "counter", math.MaxInt64-1), math.MaxInt64-1)
	equal(t, c.IncrByFloat(ctx, "float", 0.1), 0.1)
	equal(t, c.MSet(ctx, "a", "1", "b", "2"), "OK")
	equal(t, c.MGet(ctx, "a", "nothing", "b"), []any{"1", nil, "2"})

	equal(t, c.Set(ctx, "short", "v", time.Minute), "OK")
	if ttl := c.PTTL(ctx, "short").Val(); ttl <= 0 || ttl > time.Minute {
		t.Errorf("PTTL is %v", ttl)
	}
	equal(t, c.Persist(ctx, "short"), true)
	equal(t, c.TTL(ctx, "short"), -1)
	equal(t, c.Expire(ctx, "nothing", time.Second), false)

	bytes := make([]byte, 256)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	equal(t, c.Set(ctx, string(bytes), bytes, 0), "OK")
	equal(t, c.Get(ctx, string(bytes)), string(bytes))
	equal(t, c.Set(ctx, "käse/チーズ/🧀", "größe\r\n", 0), "OK")
	equal(t, c.Get(ctx, "käse/チーズ/🧀"), "größe\r\n")
}

func tourCollections(t *testing.T, c *redis.Client) {
	equal(t, c.HSet(ctx, "h", "field", "value", "other", 2), 2)
	equal(t, c.HGetAll(ctx, "h"), map[string]string{"field": "value", "other": "2"})
	equal(t, c.HIncrBy(ctx, "h", "other", 3), 5)
	equal(t, c.HMGet(ctx, "h", "field", "none"), []any{"value", nil})

	equal(t, c.RPush(ctx, "l", "a", "b", "c"), 3)
	equal(t, c.LPop(ctx, "l"), "a")
	equal(t, c.LRange(ctx, "l", 0, -1), []string{"b", "c"})

	equal(t, c.SAdd(ctx, "s", "x", "y", "x"), 2)
	equal(t, c.SMembersMap(ctx, "s"), map[string]struct{}{"x": {}, "y": {}})
	equal(t, c.SIsMember(ctx, "s", "z"), false)

	equal(t, c.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "one"}, redis.Z{Score: 2.5, Member: "two"}, redis.Z{Score: math.Inf(1), Member: "many"}), 3)
	equal(t, c.ZRangeWithScores(ctx, "z", 0, -1), []redis.Z{{Score: 1, Member: "one"}, {Score: 2.5, Member: "two"}, {Score: math.Inf(1), Member: "many"}})
	equal(t, c.ZScore(ctx, "z", "two"), 2.5)

	var keys []string
	for i := c.Scan(ctx, 0, "?", 2).Iterator(); i.Next(ctx); {
		keys = append(keys, i.Val())
	}
	sort.Strings(keys)
	if want := []string{"a", "b", "h", "l", "s", "z"}; !reflect.DeepEqual(keys, want) {
		t.Errorf("SCAN finds %q, not %q", keys, want)
	}
}

func tourPipelines(t *testing.T, c *redis.Client) {
	p := c.Pipeline()
	set, incr, push, get := p.Set(ctx, "p", 1, 0), p.Incr(ctx, "p"), p.LPush(ctx, "p", "x"), p.Get(ctx, "p")
	_, err := p.Exec(ctx)
	fails(t, err, "WRONGTYPE")
	fails(t, push.Err(), "WRONGTYPE Operation against a key holding the wrong kind of value")
	equal(t, set, "OK")
	equal(t, incr, 2)
	equal(t, get, "2")

	// Two hundred clients at one counter lose nothing.
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			for range 5 {
				if err := c.Incr(ctx, "shared").Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	equal(t, c.Get(ctx, "shared"), "1000")
}

func tourTransactions(t *testing.T, c *redis.Client) {
	p := c.TxPipeline()
	set, incr := p.Set(ctx, "t", 1, 0), p.Incr(ctx, "t")
	if _, err := p.Exec(ctx); err != nil {
		t.Error(err)
	}
	equal(t, set, "OK")
	equal(t, incr, 2)

	err := c.Watch(ctx, func(tx *redis.Tx) error {
		if err := c.Set(ctx, "t", "changed", 0).Err(); err != nil {
			return err
		}
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, "t", "mine", 0).Err() })
		return err
	}, "t")
	if !errors.Is(err, redis.TxFailedErr) {
		t.Errorf("a transaction whose key changed: %v", err)
	}
	equal(t, c.Get(ctx, "t"), "changed")
}

func tourMessages(t *testing.T, c *redis.Client) {
	listener := c.Subscribe(ctx, "news")
	defer listener.Close()
	if err := listener.PSubscribe(ctx, "n*"); err != nil {
		t.Fatal(err)
	}
	next := func() any {
		t.Helper()
		v, err := listener.ReceiveTimeout(ctx, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, want := range []redis.Subscription{{Kind: "subscribe", Channel: "news", Count: 1}, {Kind: "psubscribe", Channel: "n*", Count: 2}} {
		if got, ok := next().(*redis.Subscription); !ok || *got != want {
			t.Errorf("confirmed %v, want %v", got, want)
		}
	}
	equal(t, c.Publish(ctx, "news", "hello"), 2)
	for _, pattern := range []string{"", "n*"} {
		if m, ok := next().(*redis.Message); !ok || m.Channel != "news" || m.Pattern != pattern || m.Payload != "hello" {
			t.Errorf("got %v", m)
		}
	}
	if err := listener.Ping(ctx, "still there"); err != nil {
		t.Fatal(err)
	}
	if pong, ok := next().(*redis.Pong); !ok || pong.Payload != "still there" {
		t.Errorf("got %v", pong)
	}
}

func tourScripts(t *testing.T, c *redis.Client) {
	add := redis.NewScript(`return redis.call('INCRBY', KEYS[1], ARGV[1])`)
	equal(t, add.Run(ctx, c, []string{"script"}, 41), any(int64(41)))
	equal(t, c.ScriptFlush(ctx), "OK")
	equal(t, add.Run(ctx, c, []string{"script"}, 1), any(int64(42)))
}

// waiting returns once as many clients wait.
func waiting(t *testing.T, c *redis.Client, n int) {
	t.Helper()
	for !strings.Contains(c.Info(ctx, "clients").Val(), fmt.Sprintf("\nblocked_clients:%d\r", n)) {
		time.Sleep(5 * time.Millisecond)
	}
}

func tourWaits(t *testing.T, c *redis.Client) {
	equal(t, c.XGroupCreateMkStream(ctx, "log", "readers", "$"), "OK")
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { equal(t, c.BLPop(ctx, time.Minute, "jobs", "others"), []string{"jobs", "one"}) })
	all.Go(func() {
		equal(t, c.BZPopMin(ctx, time.Minute, "scores"), &redis.ZWithKey{Key: "scores", Z: redis.Z{Score: 1.5, Member: "a"}})
	})
	all.Go(func() {
		equal(t, c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "readers", Consumer: "kitty", Streams: []string{"log", ">"}, Block: time.Minute}),
			[]redis.XStream{{Stream: "log", Messages: []redis.XMessage{{ID: "1-1", Values: map[string]any{"f": "v"}}}}})
	})
	waiting(t, c, 3)
	equal(t, c.RPush(ctx, "jobs", "one"), 1)
	equal(t, c.ZAdd(ctx, "scores", redis.Z{Score: 1.5, Member: "a"}), 1)
	equal(t, c.XAdd(ctx, &redis.XAddArgs{Stream: "log", ID: "1-1", Values: []string{"f", "v"}}), "1-1")
	all.Wait()
	equal(t, c.XAck(ctx, "log", "readers", "1-1"), 1)
}

func tourErrors(t *testing.T, c *redis.Client) {
	fails(t, c.Incr(ctx, "greeting").Err(), "ERR value is not an integer or out of range")
	fails(t, c.LPush(ctx, "greeting", "x").Err(), "WRONGTYPE Operation against a key holding the wrong kind of value")
	fails(t, c.Do(ctx, "NOSUCH", "a").Err(), "ERR unknown command 'NOSUCH', with args beginning with: 'a' ")
	fails(t, c.Do(ctx, "GET").Err(), "ERR wrong number of arguments for 'get' command")

	other := goRedis(t, func(o *redis.Options) { o.DB = 2 })
	fails(t, other.Get(ctx, "greeting").Err(), redis.Nil.Error())
	stranger := goRedis(t, func(o *redis.Options) { o.Password = "wrong" })
	fails(t, stranger.Ping(ctx).Err(), "WRONGPASS invalid username-password pair or user is disabled.")
	anonymous := goRedis(t, func(o *redis.Options) { o.Password = "" })
	fails(t, anonymous.Get(ctx, "a").Err(), "NOAUTH")
}
