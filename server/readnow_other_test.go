//go:build !unix

package server_test

import (
	"errors"
	"net"
	"os"
	"time"
)

// readNow reads the received bytes without waiting.
func readNow(c net.Conn, b []byte) (n int, err error) {
	c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if n, err = c.Read(b); errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return n, err
}
