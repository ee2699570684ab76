// Package golang drives a server with clients and programs in Go. The tests of the directory
// above start it with HOST PORT PASSWORD; without them only those of an embedded database can run.
package golang

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"testing"
)

var (
	address, password string
	ctx               = context.Background()
)

func TestMain(m *testing.M) {
	flag.Parse()
	switch flag.NArg() {
	case 0:
		os.Exit(m.Run())
	case 3:
	default:
		fmt.Fprintln(os.Stderr, "the server's HOST PORT PASSWORD are wanted; internal/test/clients starts these tests")
		os.Exit(2)
	}
	address, password = net.JoinHostPort(flag.Arg(0), flag.Arg(1)), flag.Arg(2)
	os.Exit(m.Run())
}
