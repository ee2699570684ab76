package move

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer"
)

// TestListedAsRead compares keys that a file lists with the same keys as its commands
// return them.
func TestListedAsRead(t *testing.T) {
	present := time.Now().UnixMilli()
	now := present - 60_000 // at first, so that what dies soon is dead in the end
	file, err := local.Open(local.Memory, local.Options{SweepEvery: -1, Now: func() int64 { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	c := &targets.Conn{Session: engine.New(file, engine.WithClock(func() int64 { return now })).Session(), File: file}
	ctx := context.Background()
	run := func(line string) {
		t.Helper()
		args, err := resp.SplitLine(line)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := c.Do(ctx, args...); err != nil || v.IsError() {
			t.Fatal(line, v, err)
		}
	}
	for db := range 2 {
		run(fmt.Sprint("SELECT ", db))
		for _, line := range []string{
			"SET s hello", `SET "" ""`, `SET "\x00\xff" "\xff\r\n\x00"`, fmt.Sprintf("SET ttl v PXAT %d", now+3600_000),
			"SET long " + strings.Repeat("x", 5000), `RPUSH l b "" a b`, "LPUSH l first", "LINSERT l BEFORE a new",
			"RPUSH l:long " + strings.Repeat("e ", 200), "RPUSH l:wide a " + strings.Repeat("x", 300),
			`SADD set z y x "\xff" ""`, "SREM set y", "ZADD z 2 b 1 a -inf c +inf d 0.1 e", `HSET h f v "" "" "\x00" "\xff"`, "HSET h g w",
			"HSET fields a 1 b 2 c 3", fmt.Sprintf("HPEXPIREAT fields %d FIELDS 1 a", now+3600_000),
			"HSET dying a 1 b 2", fmt.Sprintf("HPEXPIREAT dying %d FIELDS 1 a", now+10), fmt.Sprintf("SET dead v PXAT %d", now+10),
			`JSON.SET doc $ '{"b":[1,2.0],"a":"\u00e9"}'`, "XADD x 1-1 a b", "XGROUP CREATE x g 0", "ARMSET arr 3 a 9 b",
		} {
			run(line)
		}
		for i := range 1200 {
			run(fmt.Sprintf("HSET many:%d f %d", i, i))
		}
	}
	now = present
	listed, read := partsOf(t, Keys(ctx, c, transfer.ReadOptions{})), partsOf(t, transfer.FromSession(ctx, c, transfer.ReadOptions{}))
	if len(listed) < 2*1215 {
		t.Errorf("%d keys", len(listed))
	}
	for k, want := range read {
		if listed[k] != want {
			t.Errorf("%s is listed as\n%.200s\nwant\n%.200s", k, listed[k], want)
		}
	}
	if len(listed) != len(read) {
		t.Errorf("%d keys are listed, and %d read", len(listed), len(read))
	}
}

// partsOf is what a source yields, by key.
func partsOf(t *testing.T, source transfer.Source) map[string]string {
	t.Helper()
	parts := map[string]string{}
	for p, err := range source {
		if err != nil || p.Err != nil || p.Changed {
			t.Fatal(p.Key, p, err)
		}
		name := p.Key.String()
		if p.First {
			parts[name] = fmt.Sprintf("%s %d %d %T", p.Key.Type, p.Key.ExpiresAt, p.Key.Count, p.Value)
		}
		parts[name] += " " + strings.Trim(fmt.Sprintf("%q", p.Value), "[]")
	}
	return parts
}
