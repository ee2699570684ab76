package embedded_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meowdis/meowdis/embedded"
)

func TestFastForward(t *testing.T) {
	db := embedded.RunT(t)
	p := dial(t, db)
	db.Run("CONFIG", "SET", "notify-keyspace-events", "Ex")
	p.check("SUBSCRIBE __keyevent@0__:expired", "*3\r\n$9\r\nsubscribe\r\n$22\r\n__keyevent@0__:expired\r\n:1")
	db.Run("SET", "k", "v", "EX", 60)
	db.Run("HSET", "h", "f", "v")
	db.Run("HEXPIRE", "h", 60, "FIELDS", 1, "f")
	db.Check("v", "GET", "k")
	db.FastForward(59 * time.Second)
	db.Check("v", "GET", "k")
	db.FastForward(time.Second)
	p.expect("*3\r\n$7\r\nmessage\r\n$22\r\n__keyevent@0__:expired\r\n$1\r\nk")
	db.Check(nil, "GET", "k")
	db.Check(0, "EXISTS", "h")
	if got := db.Dump(); got != "" {
		t.Errorf("the keys are\n%s", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("time went back")
		}
	}()
	db.FastForward(-time.Second)
}

func TestSetTime(t *testing.T) {
	db := embedded.RunT(t)
	db.SetTime(time.Unix(1_000_000_000, 123_456_789))
	db.Check([]string{"1000000000", "123000"}, "TIME")
	db.Run("SET", "k", "v", "PX", 1500)
	db.Check(1500, "PTTL", "k") // the clock stands still
	db.FastForward(time.Second)
	db.Check(500, "PTTL", "k")
	db.Check("1000000001123-0", "XADD", "s", "*", "f", "v")
	db.SetTime(time.Unix(1_000_000_002, 0))
	db.Check(nil, "GET", "k")
	if got := db.Now(); !got.Equal(time.Unix(1_000_000_002, 0)) {
		t.Errorf("it is %v", got)
	}
}

func TestClock(t *testing.T) {
	now := time.Unix(2_000_000_000, 0)
	db := embedded.RunT(t, embedded.WithClock(func() time.Time { return now }))
	db.Run("SET", "k", "v", "EX", 10)
	now = now.Add(5 * time.Second)
	db.Check(5, "TTL", "k")
	db.FastForward(2 * time.Second)
	db.Check(3, "TTL", "k")
	now = now.Add(3 * time.Second)
	db.Check(nil, "GET", "k")
}

// A blocked command times out when the clock passes its end, and not before.
func TestWaitsFastForward(t *testing.T) {
	db := embedded.RunT(t)
	ended := make(chan embedded.Reply, 1)
	go func() { ended <- db.Do(context.Background(), "BLPOP", "queue", 3600) }()
	waits(t, db.DB, "1")
	db.FastForward(30 * time.Minute)
	waits(t, db.DB, "1")
	db.FastForward(30 * time.Minute)
	select {
	case r := <-ended:
		if !r.IsNil() {
			t.Errorf("BLPOP: %v", r)
		}
	case <-time.After(patience):
		t.Fatal("BLPOP goes on")
	}
}

// In a synctest bubble time passes when all goroutines block. Connections of Dialer block durably.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := embedded.RunT(t)
		conn, err := db.Dialer(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		p := &peer{t, conn, nil}
		defer conn.Close()
		p.send("SET k v EX 60")
		synctest.Wait()
		db.Check("v", "GET", "k")
		time.Sleep(59 * time.Second)
		db.Check(1, "TTL", "k")
		time.Sleep(time.Second)
		db.Check(nil, "GET", "k")
		began := time.Now()
		db.Check(nil, "BLPOP", "queue", 3600)
		if took := time.Since(began); took != time.Hour {
			t.Errorf("BLPOP took %v", took)
		}
	})
}

// TestDeafSubscriber closes a subscriber that stops reading once the soft limit's time has passed, even if nothing
// more is published.
func TestDeafSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := embedded.RunT(t)
		db.Run("CONFIG", "SET", "client-output-buffer-limit", "pubsub 256mb 1mb 5")
		conn, err := db.Dialer(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		p := &peer{t, conn, nil}
		p.send("SUBSCRIBE news")
		synctest.Wait()
		for range 3 { // 28 MB more than the connection buffers
			db.Check(1, "PUBLISH", "news", make([]byte, 20<<20))
		}
		time.Sleep(5*time.Second - time.Millisecond)
		db.Check([]any{"news", 1}, "PUBSUB", "NUMSUB", "news")
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		db.Check([]any{"news", 0}, "PUBSUB", "NUMSUB", "news")
	})
}
