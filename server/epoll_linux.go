package server

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// poller waits for many sockets at once with an edge-triggered epoll instance.
type poller struct {
	epoll, wakes int // file descriptors
	events       []unix.EpollEvent
}

// ready holds the events of one socket. ended means that the peer has shut down its side.
type ready struct {
	fd                        int
	readable, ended, writable bool
}

func newPoller() (p *poller, err error) {
	p = &poller{wakes: -1, events: make([]unix.EpollEvent, 256)}
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	if p.wakes, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, errors.Join(os.NewSyscallError("eventfd", err), p.close())
	}
	if err = p.add(p.wakes); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// add watches a socket until it is closed.
func (p *poller) add(fd int) error {
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(fd),
	}))
}

// wait calls changed for each socket with events. If long is true, it first blocks until a socket has events or wake
// is called.
func (p *poller) wait(long bool, changed func(ready)) error {
	n, err := unix.EpollWait(p.epoll, p.events, 0)
	if n == 0 && long {
		n, err = unix.EpollWait(p.epoll, p.events, -1)
	}
	if err == unix.EINTR {
		return nil
	}
	for _, e := range p.events[:max(n, 0)] {
		if int(e.Fd) == p.wakes {
			continue
		}
		changed(ready{
			fd:       int(e.Fd),
			readable: e.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0,
			ended:    e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0,
			writable: e.Events&(unix.EPOLLOUT|unix.EPOLLHUP|unix.EPOLLERR) != 0,
		})
	}
	return os.NewSyscallError("epoll_wait", err)
}

// wake ends a wait. Any goroutine may call it.
func (p *poller) wake() {
	one := [8]byte{0: 1}
	// It fails after 2^64 calls without a wait, and then the next wait returns anyway.
	_, _ = unix.Write(p.wakes, one[:])
}

func (p *poller) close() error {
	err := unix.Close(p.epoll)
	if p.wakes >= 0 {
		err = errors.Join(err, unix.Close(p.wakes))
	}
	return err
}
