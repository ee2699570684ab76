package local

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite allocates a cache page together with its bookkeeping, some 4400 bytes, and the C library rounds that
// up to 8192. pagePool serves these allocations; all other sizes go to SQLite's own functions. Like these, it
// stores the requested size before the returned address.
var pagePool struct {
	sync.Mutex
	system sqlite3.Tsqlite3_mem_methods
	free   uintptr // the first free slot, which holds the address of the next
	fresh  uintptr // the end of the last block
	left   uintptr // bytes of that block in no slot yet
}

const (
	minPageBlock, maxPageBlock = pageSize + 1, pageSize + 376 // bytes that SQLite asks for

	sizeBefore = 8
	pageSlot   = maxPageBlock + sizeBefore
	pageBlock  = 256<<10 - pageSize // rounded up to 256 KB by the C library
)

// poolPages makes SQLite allocate pages from the pool. It must run before SQLite is initialized.
func poolPages(tls *libc.TLS) int32 {
	methods := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(pagePool.system)))
	if methods == 0 {
		return sqlite3.SQLITE_NOMEM
	}
	defer libc.Xfree(tls, methods)
	args := tls.Alloc(8)
	defer tls.Free(8)
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_GETMALLOC, libc.VaList(args, methods)); rc != sqlite3.SQLITE_OK {
		return rc
	}
	own := at[sqlite3.Tsqlite3_mem_methods](methods)
	pagePool.system = *own
	own.FxMalloc, own.FxFree, own.FxRealloc = address(pooledMalloc), address(pooledFree), address(pooledRealloc)
	return sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MALLOC, libc.VaList(args, methods))
}

func isPage(n int64) bool { return minPageBlock <= n && n <= maxPageBlock }

func pooledMalloc(tls *libc.TLS, n int32) uintptr {
	if !isPage(int64(n)) {
		return function[func(*libc.TLS, int32) uintptr](pagePool.system.FxMalloc)(tls, n)
	}
	p := takePage(tls)
	if p != 0 {
		*at[int64](p) = int64(n)
		p += sizeBefore
	}
	return p
}

// takePage returns a slot, or 0 if memory is exhausted.
func takePage(tls *libc.TLS) uintptr {
	pagePool.Lock()
	defer pagePool.Unlock()
	if p := pagePool.free; p != 0 {
		pagePool.free = *at[uintptr](p)
		return p
	}
	if pagePool.left < pageSlot {
		block := libc.Xmalloc(tls, pageBlock)
		if block == 0 {
			return 0
		}
		pagePool.fresh, pagePool.left = block+pageBlock, pageBlock
	}
	p := pagePool.fresh - pagePool.left
	pagePool.left -= pageSlot
	return p
}

func pooledFree(tls *libc.TLS, p uintptr) {
	if p == 0 || !isPage(*at[int64](p - sizeBefore)) {
		function[func(*libc.TLS, uintptr)](pagePool.system.FxFree)(tls, p)
		return
	}
	pagePool.Lock()
	defer pagePool.Unlock()
	p -= sizeBefore
	*at[uintptr](p), pagePool.free = pagePool.free, p
}

func pooledRealloc(tls *libc.TLS, p uintptr, n int32) uintptr {
	had := *at[int64](p - sizeBefore)
	if !isPage(had) && !isPage(int64(n)) {
		return function[func(*libc.TLS, uintptr, int32) uintptr](pagePool.system.FxRealloc)(tls, p, n)
	}
	q := pooledMalloc(tls, n)
	if q != 0 {
		size := min(had, int64(n))
		copy(unsafe.Slice(at[byte](q), size), unsafe.Slice(at[byte](p), size))
		pooledFree(tls, p)
	}
	return q
}
