package transfer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/oracle"
	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/transfer"
)

// move copies a session and returns the counts and the reported problems.
func move(t testing.TB, from, to keyspace.Session, o transfer.WriteOptions) (transfer.Written, problems, error) {
	t.Helper()
	var told problems
	o.Notify = told.add
	w := transfer.NewWriter(to, o)
	ctx := context.Background()
	err := transfer.Run(ctx, transfer.FromSession(ctx, from, transfer.ReadOptions{}), w, told.add, nil)
	return w.Written(), told, err
}

// TestThereAndBack moves every type of value from a file to each kind of session, and back to a
// file.
func TestThereAndBack(t *testing.T) {
	race.Skip(t)
	redis := oracle.Start(t)
	redis.Dial(t)
	file, _ := openLocal(t)
	run(t, file, sample()...)
	want := contents(t, file, 0, 3)
	for name, place := range map[string]keyspace.Session{
		"redis": openRedis(t, redis.Socket), "rest": openREST(t), "file": func() keyspace.Session { s, _ := openLocal(t); return s }(),
	} {
		t.Run(name, func(t *testing.T) {
			back, _ := openLocal(t)
			for _, step := range [][2]keyspace.Session{{file, place}, {place, back}} {
				written, told, err := move(t, step[0], step[1], transfer.WriteOptions{})
				if err != nil || len(told) > 0 {
					t.Fatal(err, told)
				}
				if written.Keys != int64(len(want)) {
					t.Errorf("%+v, want %d keys", written, len(want))
				}
			}
			same(t, contents(t, place, 0, 3), want)
			same(t, contents(t, back, 0, 3), want)
		})
	}
}

// TestNewTypes moves types and features that Redis 7.0 lacks, some of them newer than 8.0.
func TestNewTypes(t *testing.T) {
	race.Skip(t)
	redis := oracle.Start(t)
	expires := !redis.Dial(t).Version().Before("7.4") // fields of hashes
	file, _ := openLocal(t)
	run(t, file, "HSET h a 1 b 2 c 3", fmt.Sprintf("HPEXPIREAT h %d FIELDS 2 a b", later), fmt.Sprintf("HPEXPIREAT h %d FIELDS 1 c", later+5),
		many("HSET h:long", 6_000, "field# value#"), fmt.Sprintf("HPEXPIREAT h:long %d FIELDS 2 field5 field5999", later),
		`JSON.SET doc $ '{"a":[1,2.5,"\u00e9",null,true],"b":{"c":1e30}}'`, fmt.Sprintf("PEXPIREAT doc %d", later),
		"ARMSET a 0 x 5 y 18446744073709551614 z", "ARSEEK a 7", fmt.Sprintf("PEXPIREAT a %d", later), many("ARMSET a:long", 6_000, "7# v#"), "ARINSERT a:ins a b c")
	run(t, file, vectorSets()...)
	want := contents(t, file, 0)
	rest := openREST(t)
	if _, told, err := move(t, file, rest, transfer.WriteOptions{}); err != nil || len(told) > 0 {
		t.Fatal(err, told)
	}
	same(t, contents(t, rest, 0), want)

	server := openRedis(t, redis.Socket)
	run(t, file, "DEL v:q8 v:bin v:f32 v:reduced v:long") // see TestVectorSets
	written, told, err := move(t, file, server, transfer.WriteOptions{})
	left := []string{`"doc": the target does not support keys of type ReJSON-RL`, `"a": the target does not support keys of type array`}
	if !expires {
		left = append(left, `"h": some of its fields expire`, `"h:long": some of its fields expire`)
	}
	all := strings.Join(told, "\n")
	for _, text := range left {
		if !strings.Contains(all, text) {
			t.Errorf("told\n%s\nwithout %s", all, text)
		}
	}
	run(t, file, "DEL doc a a:long a:ins")
	if !expires {
		run(t, file, "DEL h h:long")
	}
	want = contents(t, file, 0)
	if err != nil || written.Keys != int64(len(want)) || written.Failed != int64(6-len(want)) {
		t.Errorf("%+v, %v", written, err)
	}
	same(t, contents(t, server, 0), want)
}

// TestExisting writes to existing keys.
func TestExisting(t *testing.T) {
	race.Skip(t)
	redis := oracle.Start(t)
	redis.Dial(t)
	for name, to := range map[string]keyspace.Session{"redis": openRedis(t, redis.Socket), "rest": openREST(t)} {
		t.Run(name, func(t *testing.T) {
			from, _ := openLocal(t)
			run(t, from, "SET a new", "RPUSH b new list", "SET c new", many("SADD d", 3_000, "m#"))
			before := []string{"RPUSH a old", "SET b old", "SET d old"}
			run(t, to, before...)
			old := contents(t, to, 0)

			if _, _, err := move(t, from, to, transfer.WriteOptions{}); err == nil || !strings.Contains(err.Error(), "it already exists") {
				t.Errorf("refused with %v", err)
			}
			run(t, to, "DEL c")
			same(t, contents(t, to, 0), old)

			written, _, err := move(t, from, to, transfer.WriteOptions{Existing: transfer.Skip})
			if err != nil || written != (transfer.Written{Keys: 1, Skipped: 3}) {
				t.Errorf("%+v, %v", written, err)
			}
			run(t, to, "DEL c")
			same(t, contents(t, to, 0), old)

			written, _, err = move(t, from, to, transfer.WriteOptions{Existing: transfer.Replace})
			if err != nil || written != (transfer.Written{Keys: 4}) {
				t.Errorf("%+v, %v", written, err)
			}
			same(t, contents(t, to, 0), contents(t, from, 0))
		})
	}
}
