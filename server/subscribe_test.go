package server_test

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/server"
)

// TestMessagesInOrder subscribes and unsubscribes clients while other clients publish. Each gets all messages between
// its two confirmations, in the publisher's order.
func TestMessagesInOrder(t *testing.T) {
	s := serve(t, server.Config{})
	stop := make(chan struct{})
	var publishers, listeners sync.WaitGroup
	for p := range 3 {
		c := s.dial(t)
		c.SetDeadline(time.Now().Add(2 * time.Minute))
		publishers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				c.send(command("PUBLISH", fmt.Sprint("ch", p), fmt.Sprint(i)))
				if v, err := c.r.ReadReply(); err != nil || v.Kind != resp.Int {
					t.Errorf("a publisher got %s, %v", show(v), err)
					return
				}
			}
		})
	}
	for l := range 8 {
		c := s.dial(t)
		c.SetDeadline(time.Now().Add(2 * time.Minute))
		if l%2 == 0 {
			c.do("HELLO", "3")
		}
		listeners.Go(func() {
			for range 5 {
				c.send(command("SUBSCRIBE", "ch0", "ch1") + command("PSUBSCRIBE", "ch*") + command("PING"))
				next := map[string]int{}
				confirmed, pong := 0, false
				for seen := 0; seen < 60 || !pong; {
					v, err := c.r.ReadReply()
					if err != nil {
						t.Error(err)
						return
					}
					if v.Kind == resp.Status { // PONG in RESP3
						pong = true
						continue
					}
					switch kind := string(v.Elems[0].Str); kind {
					case "pong":
						pong = true
					case "subscribe", "psubscribe":
						if confirmed++; v.Elems[2].Int != int64(confirmed) {
							t.Errorf("confirmation %d counts %d", confirmed, v.Elems[2].Int)
						}
					case "message", "pmessage":
						seen++
						id := kind + string(v.Elems[len(v.Elems)-2].Str)
						var n int
						fmt.Sscan(string(v.Elems[len(v.Elems)-1].Str), &n)
						if want, began := next[id]; began && n != want || kind == "message" && confirmed < 1 || kind == "pmessage" && confirmed < 3 {
							t.Errorf("%s: message %d after %d, and %d confirmations", id, n, want-1, confirmed)
							return
						}
						next[id] = n + 1
					}
				}
				c.send(command("UNSUBSCRIBE", "ch1", "ch0") + command("PUNSUBSCRIBE", "ch*") + command("ECHO", "done"))
				ended := 0
				for ended >= 0 {
					v, err := c.r.ReadReply()
					if err != nil {
						t.Error(err)
						return
					}
					switch {
					case v.Kind == resp.Bulk:
						if ended != 3 {
							t.Errorf("%d ends of subscriptions", ended)
						}
						ended = -1
					case strings.HasSuffix(string(v.Elems[0].Str), "unsubscribe"):
						ended++
					case ended == 3:
						t.Errorf("a message after the end: %s", show(v))
						return
					}
				}
			}
		})
	}
	listeners.Wait()
	close(stop)
	publishers.Wait()
}

// TestListenersThatLeave removes subscribers that hang up, are killed or reset, and counts exactly the remaining ones.
func TestListenersThatLeave(t *testing.T) {
	s := serve(t, server.Config{MaxClients: 2000})
	c := s.dial(t)
	all := make([]*peer, 600)
	for i := range all {
		all[i] = s.dial(t)
		all[i].send(command("SUBSCRIBE", "x") + command("PSUBSCRIBE", fmt.Sprint("*", i)))
	}
	for _, p := range all {
		p.reply()
		p.reply()
	}
	want(t, c.do("PUBLISH", "x", "hi"), "(integer) 600")
	for _, p := range all {
		want(t, p.reply(), "1) \"message\"\n2) \"x\"\n3) \"hi\"")
	}
	for i, p := range all[:300] {
		switch i % 3 {
		case 0:
			p.Close()
		case 1:
			p.send(command("QUIT"))
		case 2:
			p.send(command("RESET"))
		}
	}
	s.until(t, func() bool { return c.do("PUBLISH", "x", "again").Int == 300 })
	want(t, c.do("PUBSUB", "NUMPAT"), "(integer) 300")
	want(t, c.do("CLIENT", "KILL", "TYPE", "pubsub"), "(integer) 300")
	want(t, c.do("PUBLISH", "x", "nobody"), "(integer) 0")
	want(t, c.do("PUBSUB", "CHANNELS"), "(empty array)")
	want(t, c.do("PUBSUB", "NUMPAT"), "(integer) 0")
}

// TestListenerThatDoesNotRead closes only the subscriber with too many unread messages.
func TestListenerThatDoesNotRead(t *testing.T) {
	s := serve(t, server.Config{WriteTimeout: time.Minute})
	c, reads := s.dial(t), s.dial(t)
	deaf, err := net.Dial("tcp", s.resp)
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	fmt.Fprint(deaf, command("SUBSCRIBE", "x"))
	reads.do("SUBSCRIBE", "x")
	s.until(t, func() bool { return c.do("PUBSUB", "NUMSUB", "x").Elems[1].Int == 2 })
	big := strings.Repeat("x", 1<<20)
	left := false
	for range 100 {
		n := c.do("PUBLISH", "x", big).Int
		if v := reads.reply(); len(v.Elems) != 3 || len(v.Elems[2].Str) != 1<<20 {
			t.Fatalf("who reads got %.80s", show(v))
		}
		if left = n == 1; left {
			break
		}
	}
	if !left {
		t.Error("100 MB wait for a client that does not read")
	}
}
