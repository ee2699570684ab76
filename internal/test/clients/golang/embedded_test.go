package golang

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/meowdis/meowdis/embedded"
)

// The clients in the program that holds the database, without a port.

func Example_goRedis() {
	db, err := embedded.Open(embedded.Memory)
	if err != nil {
		panic(err)
	}
	defer db.Close()
	client := redis.NewClient(&redis.Options{Dialer: db.Dialer})
	defer client.Close()
	fmt.Println(client.Set(ctx, "greeting", "hello", time.Minute).Result())
	db.FastForward(time.Minute)
	fmt.Println(client.Get(ctx, "greeting").Result())
	// Output:
	// OK <nil>
	//  redis: nil
}

func TestEmbeddedGoRedis(t *testing.T) {
	for _, version := range []int{2, 3} {
		t.Run(fmt.Sprint("RESP", version), func(t *testing.T) {
			db := embedded.RunT(t)
			c := redis.NewClient(&redis.Options{Dialer: db.Dialer, Protocol: version, ClientName: "tour", MaxRetries: -1})
			t.Cleanup(func() { c.Close() })
			tourStrings(t, c)
			tourCollections(t, c)
			tourPipelines(t, c)
			tourTransactions(t, c)
			tourMessages(t, c)
			tourScripts(t, c)
			tourWaits(t, c)
		})
	}
}

// Over a port, as programs use it that make their client themselves.
func TestEmbeddedAddr(t *testing.T) {
	db := embedded.RunT(t)
	c := redis.NewClient(&redis.Options{Addr: db.Addr()})
	defer c.Close()
	equal(t, c.Set(ctx, "k", "v", time.Hour), "OK")
	db.Check("v", "GET", "k")
	db.FastForward(time.Hour)
	if err := c.Get(ctx, "k").Err(); err != redis.Nil {
		t.Errorf("GET of an expired key: %v", err)
	}
}

// In a bubble of synctest a client's timeouts and the keys' expiry take no time.
func TestEmbeddedBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := embedded.RunT(t)
		c := redis.NewClient(&redis.Options{Dialer: db.Dialer})
		defer c.Close()
		equal(t, c.Set(t.Context(), "k", "v", time.Hour), "OK")
		if err := c.BLPop(t.Context(), 2*time.Hour, "queue").Err(); err != redis.Nil {
			t.Errorf("BLPOP: %v", err)
		}
		if err := c.Get(t.Context(), "k").Err(); err != redis.Nil {
			t.Errorf("GET of an expired key: %v", err)
		}
	})
}

func TestEmbeddedRedigo(t *testing.T) {
	db := embedded.RunT(t)
	c, err := redigo.Dial("tcp", "", redigo.DialContextFunc(db.Dialer))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if reply, err := redigo.String(c.Do("SET", "k", "v")); reply != "OK" || err != nil {
		t.Errorf("SET: %q, %v", reply, err)
	}
	db.Check("v", "GET", "k")
}

func TestEmbeddedRueidis(t *testing.T) {
	db := embedded.RunT(t)
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{"in-process:0"},
		DialCtxFn: func(ctx context.Context, _ string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return db.Dialer(ctx, "", "")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Do(ctx, c.B().Set().Key("k").Value("v").Build()).Error(); err != nil {
		t.Error(err)
	}
	db.Check("v", "GET", "k")
}
