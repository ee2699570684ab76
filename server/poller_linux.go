package server

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// poller waits for many sockets at once: an epoll instance. It reports each change once.
type poller struct {
	epoll, wakes int // file descriptors
	events       []unix.EpollEvent
}

// ready is what has changed of a socket: there is something to read, or its peer has ended
// what it sends, or it takes more.
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

// add begins to watch a socket, until it is closed.
func (p *poller) add(fd int) error {
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(fd),
	}))
}

// wait calls changed for each socket that has, and returns once there were some, or it was
// woken. With a false for it does not wait.
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
	// It fails when it has been called 2^64 times without a wait, which then has an end.
	_, _ = unix.Write(p.wakes, one[:])
}

func (p *poller) close() error {
	err := unix.Close(p.epoll)
	if p.wakes >= 0 {
		err = errors.Join(err, unix.Close(p.wakes))
	}
	return err
}
