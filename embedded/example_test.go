package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/meowdis/meowdis/embedded"
)

var ctx = context.Background()

func Example() {
	db, err := embedded.Open(embedded.Memory) // or the path of a file
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := db.Do(ctx, "HSET", "cat:1", "name", "Tom", "lives", 9).Err(); err != nil {
		log.Fatal(err)
	}
	name, err := db.Do(ctx, "HGET", "cat:1", "name").Text()
	fmt.Println(name, err)
	lives, err := db.Do(ctx, "HINCRBY", "cat:1", "lives", -1).Int()
	fmt.Println(lives, err)
	_, err = db.Do(ctx, "GET", "cat:2").Text()
	fmt.Println(errors.Is(err, embedded.ErrNil))
	// Output:
	// Tom <nil>
	// 8 <nil>
	// true
}

func ExampleReply() {
	db, _ := embedded.Open(embedded.Memory)
	defer db.Close()
	db.Do(ctx, "RPUSH", "cats", []string{"Tom", "Felix"})
	cats, _ := db.Do(ctx, "LRANGE", "cats", 0, -1).Strings()
	fmt.Printf("%q\n", cats)
	err := db.Do(ctx, "INCR", "cats").Err()
	var reply embedded.Error
	fmt.Println(errors.As(err, &reply), reply.Code())
	fmt.Println(db.Do(ctx, "LRANGE", "cats", 0, -1)) // as redis-cli
	// Output:
	// ["Tom" "Felix"]
	// true WRONGTYPE
	// 1) "Tom"
	// 2) "Felix"
}

func ExampleConn() {
	db, _ := embedded.Open(embedded.Memory)
	defer db.Close()
	c := db.Conn()
	c.Do(ctx, "MULTI")
	c.Do(ctx, "INCR", "visits")
	c.Do(ctx, "RPUSH", "log", "a visit")
	fmt.Println(c.Do(ctx, "EXEC").Any())
	// Output: [1 1]
}

// With go-redis it is redis.NewClient(&redis.Options{Dialer: db.Dialer}).
func ExampleDB_Dialer() {
	db, _ := embedded.Open(embedded.Memory)
	defer db.Close()
	conn, err := db.Dialer(ctx, "", "")
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "PING\r\n")
	reply, _ := bufio.NewReader(conn).ReadString('\n')
	fmt.Print(reply)
	// Output: +PONG
}

func ExampleDB_FastForward() {
	db, _ := embedded.Open(embedded.Memory)
	defer db.Close()
	db.SetTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	db.Do(ctx, "SET", "session", "Tom", "EX", 60)
	db.FastForward(59 * time.Second)
	fmt.Println(db.Do(ctx, "TTL", "session"))
	db.FastForward(time.Second)
	fmt.Println(db.Do(ctx, "GET", "session"))
	// Output:
	// (integer) 1
	// (nil)
}

// In a test.
func ExampleRunT() {
	TestLogin := func(t *testing.T) {
		db := embedded.RunT(t)
		login(db, "Tom")
		db.Check("Tom", "GET", "session:1")
		db.Check(3600, "TTL", "session:1")
		db.FastForward(time.Hour)
		db.Check(nil, "GET", "session:1")
	}
	_ = TestLogin
}

// login is the function under test.
func login(db *embedded.Test, name string) { db.Run("SET", "session:1", name, "EX", 3600) }
