package server

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sock wraps a socket served by a loop. It is an ordinary net.Conn: Read and Write block until the loop reports that
// the socket is ready.
type sock struct {
	local, remote net.Addr
	onClose       func() // called once, on Close

	mu                          sync.Mutex
	changed                     sync.Cond // signals changes of the fields below
	fd                          int       // -1 when closed
	readable, writable          bool      // reported by the loop since the last EAGAIN
	readDeadline, writeDeadline time.Time
}

// adopt duplicates the descriptor of nc into a sock and closes nc. If adopt fails, nc stays open.
func adopt(nc net.Conn) (*sock, error) {
	raw, err := nc.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, failed := -1, error(nil)
	if err := raw.Control(func(old uintptr) {
		fd, failed = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	s := &sock{local: nc.LocalAddr(), remote: nc.RemoteAddr(), fd: fd}
	s.changed.L = &s.mu
	nc.Close()
	return s, nil
}

func (s *sock) LocalAddr() net.Addr  { return s.local }
func (s *sock) RemoteAddr() net.Addr { return s.remote }

// event records readiness reported by the poller.
func (s *sock) event(readable, writable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readable = s.readable || readable
	s.writable = s.writable || writable
	s.changed.Broadcast()
}

// try makes a non-blocking system call and repeats it after EINTR.
func (s *sock) try(call func(fd int, b []byte) (int, error), b []byte) (n int, err error) {
	if s.fd < 0 {
		return 0, net.ErrClosed
	}
	for {
		n, err = call(s.fd, b)
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}

// readNow reads the available bytes. ok is false if nothing is available. b must not be longer than brief.
func (s *sock) readNow(b []byte) (n int, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch n, err = s.try(rawRead, b); {
	case err == unix.EAGAIN:
		return 0, false, nil
	case err == nil && n == 0:
		return 0, true, io.EOF
	}
	return n, true, err
}

// maxRawBytes limits a call, in bytes, so that it takes a few µs.
const maxRawBytes = 64 << 10

// writeNow writes the bytes that the socket accepts now.
func (s *sock) writeNow(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	write := rawWrite
	if len(b) > maxRawBytes {
		write = syscall.Write
	}
	if n, err = s.try(write, b); err == unix.EAGAIN {
		return 0, nil
	}
	return n, err
}

func (s *sock) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if isPast(s.readDeadline) {
			return 0, os.ErrDeadlineExceeded
		}
		switch n, err := s.try(syscall.Read, b); {
		case err == unix.EAGAIN:
			if err := s.wait(&s.readable, &s.readDeadline); err != nil {
				return 0, err
			}
		case err == nil && n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, err
		}
	}
}

func (s *sock) Write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n < len(b) {
		if isPast(s.writeDeadline) {
			return n, os.ErrDeadlineExceeded
		}
		more, err := s.try(syscall.Write, b[n:])
		n += more
		if err == unix.EAGAIN {
			err = s.wait(&s.writable, &s.writeDeadline)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func isPast(deadline time.Time) bool { return !deadline.IsZero() && time.Until(deadline) <= 0 }

// wait blocks until the socket is ready or the deadline has passed. The caller holds s.mu.
func (s *sock) wait(ready *bool, deadline *time.Time) error {
	for !*ready {
		switch {
		case s.fd < 0:
			return net.ErrClosed
		case isPast(*deadline):
			return os.ErrDeadlineExceeded
		case deadline.IsZero():
			s.changed.Wait()
		default:
			alarm := time.AfterFunc(time.Until(*deadline), func() { s.event(false, false) })
			s.changed.Wait()
			alarm.Stop()
		}
	}
	*ready = false
	return nil
}

func (s *sock) Close() error {
	s.mu.Lock()
	fd := s.fd
	s.fd = -1
	s.changed.Broadcast()
	if fd >= 0 {
		unix.Close(fd) // under the lock: the system may reuse the number at once
	}
	s.mu.Unlock()
	if fd < 0 {
		return net.ErrClosed
	}
	if s.onClose != nil {
		s.onClose()
	}
	return nil
}

// CloseWrite shuts down the sending side.
func (s *sock) CloseWrite() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fd < 0 {
		return net.ErrClosed
	}
	return unix.Shutdown(s.fd, unix.SHUT_WR)
}

func (s *sock) SetDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readDeadline, s.writeDeadline = t, t
	s.changed.Broadcast()
	return nil
}

func (s *sock) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readDeadline = t
	s.changed.Broadcast()
	return nil
}

func (s *sock) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeDeadline = t
	s.changed.Broadcast()
	return nil
}
