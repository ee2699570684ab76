package oracle

import (
	"net"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// Port makes the server also listen on a free TCP port of 127.0.0.1, for clients without Unix
// sockets, and returns the port.
func (s *Server) Port(t testing.TB) string {
	t.Helper()
	c := s.Dial(t)
	for range 20 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(ln.Addr().String())
		ln.Close()
		// Another process may have taken the port in the meantime.
		if v := c.Do([]byte("CONFIG"), []byte("SET"), []byte("port"), []byte(port)); v.Kind != resp.Error {
			return port
		}
	}
	t.Fatal("redis-server finds no free port")
	return ""
}
