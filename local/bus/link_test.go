//go:build unix

package bus

import (
	"net"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// TestLate: a process that has timed out is not waited for until it has caught up.
func TestLate(t *testing.T) {
	here, there := net.Pipe()
	l := newLink(here)
	done := make(chan struct{})
	go func() { defer close(done); l.run() }()
	answers := make(chan resp.Value, 1)
	if !l.send([]byte("one"), answers) {
		t.Error("an answer may be waited for")
	}
	l.timedOut()
	for _, call := range []string{"two", "six"} {
		if l.send([]byte(call), make(chan resp.Value, 1)) {
			t.Error("a process that is late would be waited for")
		}
	}
	buf := make([]byte, 9)
	for n := 0; n < len(buf); {
		m, err := there.Read(buf[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += m
	}
	there.Write([]byte(":1\r\n:2\r\n"))
	if v := <-answers; v.Int != 1 {
		t.Errorf("the answer is %v", v)
	}
	if l.send([]byte("ten"), nil) {
		t.Error("it has not caught up")
	}
	go there.Read(buf[:3])
	there.Write([]byte(":3\r\n:4\r\n"))
	l.mu.Lock()
	for len(l.pending) > 0 {
		l.hasWork.Wait()
	}
	l.mu.Unlock()
	if !l.send([]byte("ask"), make(chan resp.Value, 1)) {
		t.Error("it has caught up, and may be waited for")
	}
	there.Close()
	<-done
}
