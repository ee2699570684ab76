package translator

import (
	"bytes"
	"testing"

	"github.com/meowdis/meowdis/store"
)

// TestNodeNames checks that long names are stored as a hash, including names that an earlier version stored in full.
func TestNodeNames(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, longNames - 2, longNames - 1, longNames, 1 << 14, 1 << 21} {
		names := [][]byte{bytes.Repeat([]byte("n"), n), []byte("more")}
		packed := PackFields(names)
		if len(packed) != packedSize(names) || cap(packed) != len(packed) {
			t.Errorf("%d: %d packed bytes with room for %d, and %d expected", n, len(packed), cap(packed), packedSize(names))
		}
		made := newNode(streamID{1, 1}, [][]byte{names[0], nil, names[1], nil})
		if len(made.names) > longNames {
			t.Errorf("%d: a node keeps %d bytes of names", n, len(made.names))
		}
		id := store.Bytes(streamID{1, 1}.bytes())
		kept := nodeOf([]store.Row{{id, id, store.Int(1), store.Int(0), store.Int(made.bytes), store.Bytes(packed)}})
		if !bytes.Equal(kept.names, made.names) {
			t.Errorf("%d: a node with its names in full is another", n)
		}
	}
}
