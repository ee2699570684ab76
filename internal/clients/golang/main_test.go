// Package golang drives a server with clients and programs in Go. The tests of the directory
// above start it with HOST PORT PASSWORD.
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
	if flag.NArg() != 3 {
		fmt.Fprintln(os.Stderr, "the server's HOST PORT PASSWORD are missing; internal/clients starts these tests")
		os.Exit(2)
	}
	address, password = net.JoinHostPort(flag.Arg(0), flag.Arg(1)), flag.Arg(2)
	os.Exit(m.Run())
}
