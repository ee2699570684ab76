package corpus_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestHyperLogLogBytes grows a HyperLogLog from empty through sparse to dense,
// and compares its bytes and its estimate with Redis's on the way.
func TestHyperLogLogBytes(t *testing.T) {
	redis := oracle.Start(t).Dial(t)
	s, err := local.Open(local.Memory, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := int64(start)
	session := newEngine(s, &now).Session()
	both := func(args ...[]byte) {
		t.Helper()
		want := redis.Do(args...)
		got, err := session.Do(context.Background(), args...)
		if err != nil {
			t.Fatal(err)
		}
		if g, w := resp.Append2(nil, got), resp.Append2(nil, want); !bytes.Equal(g, w) {
			t.Fatalf("%.40q: %.80q, redis-server %.80q", args, g, w)
		}
	}
	for i := range 400 {
		args := [][]byte{[]byte("PFADD"), []byte("h")}
		for j := range 1 + i/4 {
			args = append(args, fmt.Appendf(nil, "element-%d-%d", i, j))
		}
		both(args...)
		both([]byte("GET"), []byte("h"))
		both([]byte("PFADD"), fmt.Appendf(nil, "part-%d", i%3), args[2])
		if i%10 == 0 {
			both([]byte("PFMERGE"), []byte("m"), []byte("part-0"), []byte("part-1"))
			both([]byte("PFCOUNT"), []byte("h"), []byte("m"), []byte("part-2"))
		}
	}
	both([]byte("PFMERGE"), []byte("m"), []byte("h"))
	both([]byte("GET"), []byte("m"))
	for _, key := range []string{"part-0", "m"} {
		for _, sub := range []string{"ENCODING", "DECODE", "GETREG", "ENCODING"} {
			both([]byte("PFDEBUG"), []byte(sub), []byte(key))
		}
	}
	both([]byte("GET"), []byte("part-0"))
}
