package local

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// walIndex maps the beginning of the shared memory of all processes with the file open, where SQLite keeps the
// WAL header (https://sqlite.org/walformat.html, "The WAL-Index File Format"). It is SQLite's own mapping,
// which ends when the last connection of this process leaves WAL mode.
type walIndex [headerWords]uint64

// walHeader copies the header. Every commit changes it. SQLite relies on that, too: a connection drops
// its cached pages if the header differs from its own copy.
type walHeader [headerWords]uint64

const (
	headerWords = 6         // of 8 bytes
	regionBytes = 32 * 1024 // the unit of SQLite's mapping
)

var errNoWALIndex = errors.New("the file has no shared memory")

// walIndex returns the WAL index of the file, which must be in WAL mode. The connection must have read from it.
func (c *conn) walIndex() (*walIndex, error) {
	rc, err := withCString(c, "main", func(name uintptr) int32 {
		return sqlite3.Xsqlite3_file_control(c.tls, c.db, name, sqlite3.SQLITE_FCNTL_FILE_POINTER, c.arena)
	})
	if err != nil {
		return nil, err
	}
	file := pointerAt(c.arena)
	if rc != sqlite3.SQLITE_OK || file == 0 {
		return nil, errNoWALIndex
	}
	methods := at[sqlite3.Tsqlite3_file](file).FpMethods
	if methods == 0 {
		return nil, errNoWALIndex
	}
	mapRegion := at[sqlite3.Tsqlite3_io_methods](methods).FxShmMap
	if mapRegion == 0 {
		return nil, errNoWALIndex
	}
	const first, extend = 0, 0
	call := function[func(tls *libc.TLS, file uintptr, region, size, extend int32, to uintptr) int32](mapRegion)
	rc = call(c.tls, file, first, regionBytes, extend, c.arena)
	region := pointerAt(c.arena)
	if rc != sqlite3.SQLITE_OK || region == 0 {
		return nil, errNoWALIndex
	}
	return at[walIndex](region), nil
}

// read returns the current header. While a process changes it, the result may mix two headers.
func (w *walIndex) read() (h walHeader) {
	for i := range h {
		h[i] = atomic.LoadUint64(&w[i])
	}
	return h
}

// is reports whether the header is h.
func (w *walIndex) is(h *walHeader) bool {
	for i := range h {
		if atomic.LoadUint64(&w[i]) != h[i] {
			return false
		}
	}
	return true
}

// commits returns the commit counter of the file, modulo 2^32.
func (h *walHeader) commits() uint32 { return (*[2 * headerWords]uint32)(unsafe.Pointer(h))[2] }
