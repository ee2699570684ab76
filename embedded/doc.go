// Package embedded runs Redis commands in a Go program, on a SQLite file or in memory, without a
// server of its own.
//
//	db, err := embedded.Open("cats.sqlite")
//	…
//	defer db.Close()
//	name, err := db.Do(ctx, "GET", "cat:1").Text()
//
// Any Redis client for Go works on it, too, without a port: Dialer has the signature of
// go-redis's and redigo's, and connects to a server in this process, which knows what
// "meowdis serve" knows. What the commands do is at https://redis.io/docs/latest/commands/.
//
// RunT is for tests: an empty database in memory, which ends with the test.
//
//	db := embedded.RunT(t)
//	client := redis.NewClient(&redis.Options{Dialer: db.Dialer})
//	…
//	db.FastForward(time.Hour)
//	db.Check(nil, "GET", "session:1")
//
// # Time
//
// A database goes by one clock: the system's, unless WithClock says otherwise. FastForward moves it
// ahead and SetTime sets and stops it. What expires goes by this clock, and so do TIME, the IDs of
// streams and whatever else a command calls now. FastForward also deletes what has expired before
// it returns, so that keyspace events of expired keys have been sent.
//
// The timeout of BLPOP and its like is over after that time on the system's clock, as clients
// expect it that have a timeout of their own; FastForward takes its time off what is left. The
// sweep, which deletes expired keys that no command sees any more, looks once a second of the
// system's clock. In a bubble of testing/synctest the system's clock is the bubble's, and Dialer's
// connections block as such a bubble wants it; those to Addr do not.
package embedded
