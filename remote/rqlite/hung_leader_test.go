package rqlite_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/test/rqlitetest"
	"github.com/meowdis/meowdis/remote/rqlite"
)

// TestHungLeader sends a command to a leader that hangs. It usually waits 4 s for the next leader, and longer if a node
// forwards it to the leader that hangs.
func TestHungLeader(t *testing.T) {
	needCluster(t)
	c := rqlitetest.Start(t, 3)
	session := engine.New(open(t, "", c.Addresses()...)).Session()
	set := func() {
		t.Helper()
		v, err := session.Do(context.Background(), []byte("SET"), []byte("a"), []byte("1"))
		if (err != nil || v.IsError()) && !errors.Is(err, rqlite.ErrReplyLost) {
			t.Fatal(string(v.Str), err)
		}
	}
	for range *rounds {
		set()
		leader := c.Leader()
		c.Hang(leader)
		began := time.Now()
		set()
		took := time.Since(began)
		t.Logf("node %d hangs: the command takes %v", leader+1, took)
		c.Continue(leader)
		for i := range 3 {
			c.WaitReady(i)
		}
	}
}
