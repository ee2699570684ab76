package fuzz

import (
	"context"
	"fmt"
	"strconv"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// redis-server's clock cannot be moved, and no test waits. Instead every expiry is moved
// nearer: an expiry in the past deletes the key in Redis; in meowdis the key is dead and not
// yet swept. These amounts leave no lifetime (pools.go) within ten seconds of its end.
var ages = []int64{60_000, 150_000, 150_000, 1_100_000, 300_000_000}

// age moves all expiries on both sides ms earlier, unless a transaction is open.
func (s *sides) age(meow *meowdis, ms int64) {
	for _, c := range meow.clients {
		if c.inMulti() {
			return
		}
	}
	by := []store.Value{store.Digits(ms)}
	results, err := meow.store.Apply(context.Background(), []store.Batch{{Stmts: []store.Stmt{
		{SQL: `UPDATE keys SET expires_at = expires_at - ?1 WHERE expires_at IS NOT NULL`, Args: by},
		{SQL: `UPDATE hashes SET expires_at = expires_at - ?1 WHERE expires_at IS NOT NULL`, Args: by},
	}}})
	if err != nil || results[0].Refused != nil {
		s.t.Fatalf("making meowdis older: %v, %+v", err, results)
	}
	for db := range commands.Databases {
		s.older.Do(words("SELECT", strconv.Itoa(db))...)
		for _, key := range flatten(s.older.Do(words("KEYS", "*")...)) {
			s.ageKey(key, ms)
		}
	}
}

// ageKey moves the expiry of Redis's key, and of its fields, earlier. Redis 7.0 has no fields
// that expire.
func (s *sides) ageKey(key []byte, ms int64) {
	do := func(args ...[]byte) resp.Value { return s.older.Do(args...) }
	at := func(expiry int64) []byte { return strconv.AppendInt(nil, max(1, expiry-ms), 10) }
	if expiry := do([]byte("PEXPIRETIME"), key).Int; expiry > 0 {
		do([]byte("PEXPIREAT"), key, at(expiry))
	}
	if string(do([]byte("TYPE"), key).Str) != "hash" {
		return
	}
	fields := flatten(do([]byte("HKEYS"), key))
	ask := append([][]byte{[]byte("HPEXPIRETIME"), key, []byte("FIELDS"), fmt.Append(nil, len(fields))}, fields...)
	for i, expiry := range do(ask...).Elems {
		if expiry.Int > 0 {
			do([]byte("HPEXPIREAT"), key, at(expiry.Int), []byte("FIELDS"), []byte("1"), fields[i])
		}
	}
}
