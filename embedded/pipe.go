package embedded

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// maxAhead limits the unread bytes in one direction, like a socket's buffer. A client that sends a long pipeline
// before it reads a reply needs this; net.Pipe has no buffer.
const maxAhead = 32 << 20

// Buffers up to smallBuffer bytes are reused after all bytes are read.
const smallBuffer = 64 << 10

// stream is one direction of a connection.
type stream struct {
	mu      sync.Mutex
	changed sync.Cond
	bytes   []byte
	read    int  // bytes already read
	ended   bool // closed by the writer
	left    bool // closed by the reader
	// Deadlines of the reader and the writer; zero for none.
	readBy, writeBy time.Time
}

func newStream() *stream {
	s := &stream{}
	s.changed.L = &s.mu
	return s
}

func (s *stream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.left:
			return 0, net.ErrClosed
		case past(s.readBy):
			return 0, os.ErrDeadlineExceeded
		case s.read < len(s.bytes):
			n := copy(b, s.bytes[s.read:])
			if s.read += n; s.read == len(s.bytes) {
				if s.read = 0; cap(s.bytes) > smallBuffer {
					s.bytes = nil
				}
				s.bytes = s.bytes[:0]
			}
			s.changed.Broadcast()
			return n, nil
		case s.ended:
			return 0, io.EOF
		case len(b) == 0:
			return 0, nil
		}
		s.wait(s.readBy)
	}
}

func (s *stream) Write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.ended:
			return n, net.ErrClosed
		case s.left:
			return n, io.ErrClosedPipe
		case past(s.writeBy):
			return n, os.ErrDeadlineExceeded
		}
		room := min(maxAhead-(len(s.bytes)-s.read), len(b)-n)
		if room > 0 {
			if s.read > len(s.bytes)/2 { // drop bytes already read
				s.bytes = s.bytes[:copy(s.bytes, s.bytes[s.read:])]
				s.read = 0
			}
			s.bytes = append(s.bytes, b[n:n+room]...)
			n += room
			s.changed.Broadcast()
		}
		if n == len(b) {
			return n, nil
		}
		s.wait(s.writeBy)
	}
}

func past(deadline time.Time) bool { return !deadline.IsZero() && time.Until(deadline) <= 0 }

// wait blocks until a change or the deadline. The caller holds s.mu.
func (s *stream) wait(deadline time.Time) {
	if !deadline.IsZero() {
		alarm := time.AfterFunc(time.Until(deadline), func() { s.change(func() {}) })
		defer alarm.Stop()
	}
	s.changed.Wait()
}

func (s *stream) change(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
	s.changed.Broadcast()
}

// pipeConn is one end of a connection.
type pipeConn struct{ in, out *stream }

func newPair() (client, server net.Conn) {
	up, down := newStream(), newStream()
	return &pipeConn{in: down, out: up}, &pipeConn{in: up, out: down}
}

func (e *pipeConn) Read(b []byte) (int, error)  { return e.in.Read(b) }
func (e *pipeConn) Write(b []byte) (int, error) { return e.out.Write(b) }

// CloseWrite ends the stream to the other end, which can still read the buffered bytes.
func (e *pipeConn) CloseWrite() error {
	e.out.change(func() { e.out.ended = true })
	return nil
}

func (e *pipeConn) Close() error {
	e.in.change(func() { e.in.left = true; e.in.bytes = nil; e.in.read = 0 })
	return e.CloseWrite()
}

func (e *pipeConn) SetReadDeadline(t time.Time) error {
	e.in.change(func() { e.in.readBy = t })
	return nil
}

func (e *pipeConn) SetWriteDeadline(t time.Time) error {
	e.out.change(func() { e.out.writeBy = t })
	return nil
}

func (e *pipeConn) SetDeadline(t time.Time) error {
	e.SetReadDeadline(t)
	return e.SetWriteDeadline(t)
}

func (e *pipeConn) LocalAddr() net.Addr  { return inProcess{} }
func (e *pipeConn) RemoteAddr() net.Addr { return inProcess{} }

// inProcess stands for the address of both ends and of the listener.
type inProcess struct{}

func (inProcess) Network() string { return "in-process" }
func (inProcess) String() string  { return "in-process:0" }

// pipes listens for dialed connections and accepts their other ends.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{dialed: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	client, server := newPair()
	select {
	case p.dialed <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialed:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return inProcess{} }
