package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// handOver has one client push numbers to a list at which another one waits, which must get each of
// them, in order.
func (c *crowd) handOver(i int) {
	queue := fmt.Sprintf("q:%d", i)
	taker, err := c.server.dial(false)
	if c.unexpected("a queue", err) {
		return
	}
	defer taker.Close()
	giver, err := c.server.dial(i%4 == 3)
	if c.unexpected("a queue", err) || c.unexpected("a queue", do(giver, words("DEL "+queue))) {
		return
	}
	defer giver.Close()
	gave := make(chan struct{})
	go func() {
		defer close(gave)
		for n := 1; c.here.Err() == nil; n++ {
			if c.unexpected("a queue", do(giver, words(fmt.Sprintf("LPUSH %s %d", queue, n)))) {
				return
			}
			c.pause(rand.N(20 * time.Millisecond))
		}
	}()
	defer func() { <-gave }()
	for n := 1; c.here.Err() == nil; {
		v, err := taker.Do(context.Background(), words("BRPOP "+queue+" 1")...)
		switch {
		case err == nil && v.IsNull():
			continue // the other one is slow, or has left
		case err == nil && (len(v.Elems) != 2 || string(v.Elems[1].Str) != strconv.Itoa(n)):
			err = errorReply{fmt.Sprintf("the queue gives %v in place of %d", v, n)}
		}
		if c.unexpected("a queue", err) {
			return
		}
		n++
		c.seen.handed.Add(1)
	}
}

// listen has one client publish numbers, of which another one must hear each, in order.
func (c *crowd) listen(i int) {
	channel := fmt.Sprintf("ch:%d", i)
	speaker, err := c.server.dial(i%2 == 0)
	if c.unexpected("a channel", err) {
		return
	}
	defer speaker.Close()
	listener, err := c.server.dial(i%8 < 4)
	if c.unexpected("a channel", err) {
		return
	}
	defer listener.Close()
	listens := make(chan struct{})
	var heard atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := listener.(interface {
			Listen(context.Context, [][]byte, func(resp.Value) error) error
		}).Listen(c.here, words("SUBSCRIBE "+channel), func(v resp.Value) error {
			switch kind := string(v.Elems[0].Str); {
			case kind == "subscribe":
				close(listens)
			case string(v.Elems[2].Str) != strconv.FormatInt(heard.Load()+1, 10):
				return errorReply{fmt.Sprintf("after %d came %s", heard.Load(), v.Elems[2].Str)}
			default:
				heard.Add(1)
				c.seen.heard.Add(1)
			}
			return nil
		})
		if c.here.Err() == nil || errors.As(err, new(errorReply)) {
			c.unexpected("a channel", err)
		}
	}()
	select {
	case <-listens:
	case <-ended:
		return
	}
	for n := 1; c.here.Err() == nil; n++ {
		if c.unexpected("a channel", do(speaker, words(fmt.Sprintf("PUBLISH %s %d", channel, n)))) {
			break
		}
		c.pause(rand.N(20 * time.Millisecond))
	}
	<-ended
}
