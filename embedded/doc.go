// Package embedded runs Redis commands inside a Go program, on a SQLite file or in memory, without a separate server.
//
//	db, err := embedded.Open("cats.sqlite")
//	…
//	defer db.Close()
//	name, err := db.Do(ctx, "GET", "cat:1").Text()
//
// Any Redis client for Go can use it, too, without a port: Dialer has the signature that go-redis and redigo expect,
// and connects to a server in this process with all commands of "meowdis serve". The commands are described at
// https://redis.io/docs/latest/commands/.
//
// RunT is for tests: it opens an empty database in memory that closes when the test ends.
//
//	db := embedded.RunT(t)
//	client := redis.NewClient(&redis.Options{Dialer: db.Dialer})
//	…
//	db.FastForward(time.Hour)
//	db.Check(nil, "GET", "session:1")
//
// # Time
//
// A database has one clock: the system's, or the one of WithClock. FastForward moves it ahead; SetTime sets and stops
// it. Expiry, TIME, stream IDs and all other commands that need the time use this clock. FastForward also deletes
// expired keys before it returns, so their keyspace events have been sent by then.
//
// Timeouts of BLPOP and other blocking commands run on the system's clock, since clients have timeouts of their own.
// FastForward shortens them by its duration. The sweep, which deletes expired keys that no command touches, runs once
// a second of the system's clock. In a testing/synctest bubble the system's clock is the bubble's. There, connections
// of Dialer block durably, but connections to Addr do not.
package embedded
