package local

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite allocates a page of its cache with what it knows of it, some 4400 bytes, and the C
// library under it has room for 8192 then. pagePool is for those; the rest goes to SQLite's own
// functions. As these do, it keeps the size that was asked for before what it returns.
var pagePool struct {
	sync.Mutex
	system sqlite3.Tsqlite3_mem_methods
	free   uintptr // the first slot that is free, which has the address of the next
	fresh  uintptr // the end of the last block, of which so many bytes
	left   uintptr // were in no slot yet
}

const (
	pageLeast, pageMost = pageSize + 1, pageSize + 376 // bytes that SQLite asks for

	sizeBefore = 8
	pageSlot   = pageMost + sizeBefore
	pageBlock  = 256<<10 - pageSize // what the C library rounds up to 256 KB
)

// poolPages has SQLite allocate pages from the pool, from before it is used.
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

func isPage(n int64) bool { return pageLeast <= n && n <= pageMost }

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

// takePage returns a slot, or 0 without memory.
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
