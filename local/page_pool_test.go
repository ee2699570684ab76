package local

import (
	"bytes"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// TestPagePool allocates page-sized and other blocks, resizes each into the other, and checks their content.
func TestPagePool(t *testing.T) {
	c, err := openConn(Memory, makeIfNew)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	sizes := []int32{1, pageSize, minPageBlock, maxPageBlock, maxPageBlock + 8, 9000}
	var running sync.WaitGroup
	for id := range 4 {
		running.Go(func() {
			tls := libc.NewTLS()
			defer tls.Close()
			for _, from := range sizes {
				for _, to := range sizes {
					var all []uintptr
					for range 150 { // more than a block has slots
						p := sqlite3.Xsqlite3_malloc(tls, from)
						copy(unsafe.Slice(at[byte](p), from), bytes.Repeat([]byte{byte(id + len(all))}, int(from)))
						all = append(all, p)
					}
					for i, p := range all {
						p = sqlite3.Xsqlite3_realloc(tls, p, to)
						if got := unsafe.Slice(at[byte](p), min(from, to)); !bytes.Equal(got, bytes.Repeat([]byte{byte(id + i)}, len(got))) {
							t.Errorf("%d bytes that became %d were changed", from, to)
						}
						if size := sqlite3.Xsqlite3_msize(tls, p); size < uint64(to) {
							t.Errorf("%d bytes became %d in place of %d", from, size, to)
						}
						sqlite3.Xsqlite3_free(tls, p)
					}
				}
			}
		})
	}
	running.Wait()
	if pagePool.free == 0 {
		t.Error("no page came from the pool")
	}
}
