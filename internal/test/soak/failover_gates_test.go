//go:build unix

package soak

import (
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// gate is a node's way to the place, which can be cut.
type gate interface {
	place() string
	cut()
	heal()
}

// link is a gate to a directory: a symbolic link, or a file in its place.
type link struct{ path, to string }

func newLink(t *testing.T, dir string) gate {
	l := &link{filepath.Join(t.TempDir(), "place"), dir}
	l.heal()
	return l
}

func (l *link) place() string { return l.path }

func (l *link) cut() {
	os.WriteFile(l.path+".cut", nil, 0o600)
	os.Rename(l.path+".cut", l.path)
}

func (l *link) heal() {
	os.Symlink(l.to, l.path+".link")
	os.Rename(l.path+".link", l.path)
}

// proxy is a gate to an S3 server: a TCP proxy, whose connections hang after the cut.
type proxy struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	conns    map[net.Conn]bool
	isCut    bool
}

func newProxy(t *testing.T, endpoint string) gate {
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, to: u.Host, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { listener.Close(); p.cut() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) serve(c net.Conn) {
	p.mu.Lock()
	if p.isCut {
		p.mu.Unlock()
		c.Close()
		return
	}
	s, err := net.Dial("tcp", p.to)
	if err != nil {
		p.mu.Unlock()
		c.Close()
		return
	}
	p.conns[c], p.conns[s] = true, true
	p.mu.Unlock()
	go func() { io.Copy(s, c); s.Close() }()
	io.Copy(c, s)
	c.Close()
}

func (p *proxy) place() string {
	return "s3://cats/place?endpoint=http://" + p.listener.Addr().String()
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = true
	for c := range p.conns {
		c.Close()
	}
	p.conns = map[net.Conn]bool{}
}

func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = false
}
