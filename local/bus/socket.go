//go:build unix

package bus

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// unreadyPrefix prefixes the names of sockets that do not accept connections yet.
const unreadyPrefix = "new-"

// open creates a socket in the directory, and the directory if needed.
func (n *Node) open(suffix string) (ln net.Listener, name string, err error) {
	name = strconv.Itoa(os.Getpid()) + "-" + strings.ToLower(rand.Text()[:8]) + suffix
	for range 10 {
		if err = n.makeDir(); err != nil {
			return nil, "", err
		}
		// Another process may remove the directory while it is empty.
		if ln, err = n.listen(name); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return ln, name, err
}

// listen creates a socket. It appears under its name once it accepts connections.
func (n *Node) listen(name string) (net.Listener, error) {
	dir, done, err := shortPath(n.dir, unreadyPrefix+name)
	if err != nil {
		return nil, err
	}
	defer done()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, unreadyPrefix+name), Net: "unix"})
	if err != nil {
		return nil, err
	}
	ln.SetUnlinkOnClose(false)
	born := filepath.Join(n.dir, unreadyPrefix+name)
	err = errors.Join(os.Chmod(born, 0o600), n.chown(born))
	if err == nil {
		err = os.Rename(born, filepath.Join(n.dir, name))
	}
	if err != nil {
		ln.Close()
		os.Remove(born)
		return nil, err
	}
	return ln, nil
}

// dial connects to a socket. It removes the socket of a killed process, which refuses connections.
func (n *Node) dial(name string) (net.Conn, error) {
	dir, done, err := shortPath(n.dir, name)
	if err != nil {
		return nil, err
	}
	defer done()
	conn, err := net.DialTimeout("unix", filepath.Join(dir, name), replyTimeout)
	if errors.Is(err, syscall.ECONNREFUSED) {
		os.Remove(filepath.Join(n.dir, name))
		if !n.listens("") && !n.listens(commandsSuffix) {
			os.Remove(n.dir) // fails if it is not empty
		}
	}
	return conn, err
}

// makeDir creates the directory, or checks the existing one.
func (n *Node) makeDir() error {
	if err := os.Mkdir(n.dir, 0o700); err == nil {
		return n.chown(n.dir)
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(n.dir)
	if err != nil {
		return err
	}
	return n.checkDir(info)
}

// checkDir returns why the directory cannot be trusted: if other users can write to its parent, one of them may
// have created it.
func (n *Node) checkDir(info fs.FileInfo) error {
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is accessible to other users: run chmod 700 on it", n.dir)
	}
	if uid := owner(info); uid != os.Geteuid() && uid != n.owner() {
		return fmt.Errorf("%s has another owner than the database file", n.dir)
	}
	return nil
}

// owner returns the owner of the file, or the current user while the file is missing.
func (n *Node) owner() int {
	info, err := os.Stat(n.file)
	if err != nil {
		return os.Geteuid()
	}
	return owner(info)
}

// chown changes the owner of a file that root has created to the owner of the database.
func (n *Node) chown(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, n.owner(), -1)
}

func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

// maxSocketPath limits the path of a socket on every system, including the final zero byte.
const maxSocketPath = 103

// shortPath returns another path of dir if the path with name is too long for a socket: Linux has one for each open
// directory. The caller calls done after using it.
func shortPath(dir, name string) (path string, done func(), err error) {
	if len(filepath.Join(dir, name)) <= maxSocketPath {
		return dir, func() {}, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	path = fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if _, err := os.Stat(path); err != nil {
		f.Close()
		return "", nil, fmt.Errorf("the path is too long for a socket: %d bytes", len(dir))
	}
	return path, func() { f.Close() }, nil
}
