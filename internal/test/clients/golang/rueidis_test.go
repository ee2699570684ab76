package golang

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func TestRueidis(t *testing.T) {
	options := rueidis.ClientOption{InitAddress: []string{address}, Password: password}
	c, err := rueidis.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Do(ctx, c.B().Set().Key("greeting").Value("hello").Ex(time.Minute).Build()).Error(); err != nil {
		t.Error(err)
	}
	if s, err := c.Do(ctx, c.B().Get().Key("greeting").Build()).ToString(); s != "hello" || err != nil {
		t.Errorf("GET: %q, %v", s, err)
	}
	if err := c.Do(ctx, c.B().Get().Key("nothing").Build()).Error(); !rueidis.IsRedisNil(err) {
		t.Errorf("GET of a missing key: %v", err)
	}
	// Commands of many goroutines share a connection and go out together.
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if err := c.Do(ctx, c.B().Incr().Key("counter").Build()).Error(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	replies := c.DoMulti(ctx, c.B().Get().Key("counter").Build(), c.B().Incr().Key("greeting").Build(),
		c.B().Zadd().Key("z").ScoreMember().ScoreMember(1.5, "a").ScoreMember(2, "b").Build(),
		c.B().Zrange().Key("z").Min("0").Max("-1").Withscores().Build())
	if n, err := replies[0].AsInt64(); n != 100 || err != nil {
		t.Errorf("100 INCR: %d, %v", n, err)
	}
	if err := replies[1].Error(); err == nil || err.Error() != "value is not an integer or out of range" {
		t.Errorf("INCR of a text: %v", err)
	}
	if z, err := replies[3].AsZScores(); !reflect.DeepEqual(z, []rueidis.ZScore{{Member: "a", Score: 1.5}, {Member: "b", Score: 2}}) || err != nil {
		t.Errorf("ZRANGE: %v, %v", z, err)
	}
	script := rueidis.NewLuaScript(`return {redis.call("INCRBY", KEYS[1], ARGV[1]), "two"}`)
	if reply, err := script.Exec(ctx, c, []string{"counter"}, []string{"5"}).ToArray(); err != nil || len(reply) != 2 {
		t.Errorf("the script: %v, %v", reply, err)
	}
	rueidisTransaction(t, c)
	rueidisMessages(t, c)
	rueidisCache(t, c)
	rueidisLock(t, options)
}

// rueidisCache keeps what it has read until the server says that it has changed.
func rueidisCache(t *testing.T, c rueidis.Client) {
	read := func() (string, bool) {
		t.Helper()
		reply := c.DoCache(ctx, c.B().Hget().Key("menu").Field("dinner").Cache(), time.Hour)
		text, err := reply.ToString()
		if err != nil {
			t.Fatal(err)
		}
		return text, reply.IsCacheHit()
	}
	other := goRedis(t, func(*goredis.Options) {})
	equal(t, other.HSet(ctx, "menu", "dinner", "fish"), 1)
	for i, hit := range []bool{false, true, true} {
		if text, kept := read(); text != "fish" || kept != hit {
			t.Errorf("read %d: %q, kept: %v", i+1, text, kept)
		}
	}
	equal(t, other.HSet(ctx, "menu", "dinner", "milk"), 0)
	for text, _ := read(); text != "milk"; text, _ = read() {
		time.Sleep(5 * time.Millisecond) // The old value lasts an hour, unless the server tells.
	}
	if _, kept := read(); !kept {
		t.Error("what was read again is not kept")
	}
}

// rueidisTransaction watches a key on a connection of its own.
func rueidisTransaction(t *testing.T, c rueidis.Client) {
	err := c.Dedicated(func(own rueidis.DedicatedClient) error {
		own.Do(ctx, own.B().Watch().Key("greeting").Build())
		c.Do(ctx, c.B().Set().Key("greeting").Value("changed").Build())
		replies := own.DoMulti(ctx, own.B().Multi().Build(), own.B().Set().Key("greeting").Value("mine").Build(), own.B().Exec().Build())
		return replies[2].Error()
	})
	if !rueidis.IsRedisNil(err) {
		t.Errorf("a transaction whose key changed: %v", err)
	}
}

func rueidisMessages(t *testing.T, c rueidis.Client) {
	listening, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	heard := make(chan rueidis.PubSubMessage, 1)
	ended := make(chan error, 1)
	subscribed := make(chan struct{})
	hook := rueidis.WithOnSubscriptionHook(listening, func(s rueidis.PubSubSubscription) {
		if s.Kind == "subscribe" {
			close(subscribed)
		}
	})
	go func() {
		ended <- c.Receive(hook, c.B().Subscribe().Channel("news").Build(), func(m rueidis.PubSubMessage) { heard <- m })
	}()
	<-subscribed
	if n, err := c.Do(ctx, c.B().Publish().Channel("news").Message("fish").Build()).AsInt64(); n != 1 || err != nil {
		t.Errorf("PUBLISH: %d, %v", n, err)
	}
	if m := <-heard; m.Channel != "news" || m.Message != "fish" {
		t.Errorf("the message is %v", m)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Receive ended with %v", err)
	}
}

// rueidisLock has ten goroutines take a lock that is kept alive while they have it. They ask again
// and again: those that the server tells of changes at times wait for ever, with redis-server, too.
func rueidisLock(t *testing.T, options rueidis.ClientOption) {
	options.DisableCache = true
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: options, KeyMajority: 1, KeyValidity: 500 * time.Millisecond, TryNextAfter: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer locker.Close()
	var all sync.WaitGroup
	visits := 0 // guarded by the lock
	for range 10 {
		all.Go(func() {
			held, release, err := locker.WithContext(ctx, "room")
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			if held.Err() == nil {
				visits++
			}
		})
	}
	all.Wait()
	if visits != 10 {
		t.Errorf("%d of 10 had the lock", visits)
	}
}
