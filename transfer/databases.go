package transfer

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// Databases returns the databases of a session that hold keys, in order. If the server refuses
// INFO, which is common for unprivileged users, it probes each database. It returns an error if
// it cannot determine all databases.
func Databases(ctx context.Context, s keyspace.Session) ([]int, error) {
	v, err := s.Do(ctx, words("INFO", "keyspace")...)
	if err != nil {
		return nil, err
	}
	if v.IsError() || !bytes.Contains(v.Str, []byte("# Keyspace")) {
		return probed(ctx, s, v)
	}
	var found []int
	for line := range strings.Lines(string(v.Str)) {
		name, _, _ := strings.Cut(line, ":")
		if n, err := strconv.Atoi(strings.TrimPrefix(name, "db")); err == nil && strings.HasPrefix(name, "db") {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	return found, nil
}

// A database number that no server has, and the number of databases per probe.
const (
	noDatabase = 1<<31 - 2
	probes     = 16
)

// probed selects one database after another until one does not exist. info is the reply to
// INFO.
func probed(ctx context.Context, s keyspace.Session, info resp.Value) (found []int, err error) {
	own := s.DB()
	defer func() {
		if back := selectDB(ctx, s, own); err == nil {
			err = back
		}
	}()
	switch v, err := s.Do(ctx, call("SELECT", decimal(noDatabase))...); {
	case err != nil:
		return nil, err
	case !v.IsError(), onlyDatabase(v): // a SELECT that accepts any number has one database
		return []int{own}, nil
	case !beyondDatabases(v):
		return nil, unseen(info, v)
	}
	for from := 0; ; from += probes {
		var calls [][][]byte
		for n := range probes {
			calls = append(calls, call("SELECT", decimal(int64(from+n))), call("DBSIZE"))
		}
		replies, err := s.Pipeline(ctx, calls)
		if err != nil {
			return nil, err
		}
		for n := range probes {
			switch v := replies[2*n]; {
			case beyondDatabases(v), from+n > 0 && onlyDatabase(v):
				return found, nil
			case v.IsError():
				return nil, unseen(info, v)
			}
			// If DBSIZE is refused, include the database: the scan finds its keys.
			if keys, ok := integer(replies[2*n+1]); !ok || keys > 0 {
				found = append(found, from+n)
			}
		}
	}
}

func unseen(info, v resp.Value) error {
	return fmt.Errorf("which databases hold keys cannot be seen: INFO was answered with %q, and SELECT with %q; choose the database with -n", firstLine(info), firstLine(v))
}

func firstLine(v resp.Value) string {
	line, _, _ := strings.Cut(string(v.Str), "\n")
	return strings.TrimSpace(line)
}

// beyondDatabases reports whether SELECT was refused because the database number is too large.
func beyondDatabases(v resp.Value) bool {
	return v.IsError() && bytes.Contains(bytes.ToLower(v.Str), []byte("db index"))
}

// onlyDatabase reports whether SELECT was refused because the server has only one database.
func onlyDatabase(v resp.Value) bool {
	return unknown(v) || v.IsError() &&
		(bytes.Contains(v.Str, []byte("one database")) || bytes.Contains(v.Str, []byte("cluster mode")))
}
