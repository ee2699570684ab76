package translator

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/meowdis/meowdis/store"
)

// streamNode is what Redis keeps some entries of a stream in. Trimming with ~ removes
// whole nodes, so that it takes their bounds to trim what Redis trims: the entries
// are in one table, and the nodes are remembered beside it.
type streamNode struct {
	first, last streamID // that were ever in it
	count       int64    // entries
	deleted     int64    // entries that are gone; they take their room until the node goes
	bytes       int64    // of the listpack, without its two counts
	names       []byte   // nodeNames of the first entry: those that have the same are shorter
}

const (
	sqlNodeLast = `SELECT first_id, last_id, count, deleted, bytes, names FROM stream_nodes WHERE key_id = ` + liveID + ` ORDER BY first_id DESC LIMIT 1`
	sqlNodeMake = `INSERT INTO stream_nodes(key_id, first_id, last_id, count, deleted, bytes, names)
		SELECT ` + thisID + `, unhex(j.value ->> 0), unhex(j.value ->> 1), j.value ->> 2, 0, j.value ->> 3, unhex(j.value ->> 4) FROM json_each(?3) j`
	sqlNodeGrow = `UPDATE stream_nodes SET last_id = ?4, count = count + 1, bytes = ?5 WHERE key_id = ` + thisID + ` AND first_id = ?3`
)

// Of entries that were deleted by their IDs ?4, all of which were there: their nodes
// have fewer, and go with their last one.
const (
	nodeOfEach     = `(SELECT max(first_id) FROM stream_nodes WHERE key_id = ` + liveID + ` AND first_id <= unhex(j.value))`
	someNodes      = `first_id IN (SELECT ` + nodeOfEach + ` FROM json_each(?4) j)` // or SQLite goes through all
	sqlNodesShrink = `UPDATE stream_nodes AS n SET count = count - g.gone, deleted = deleted + g.gone
		FROM (SELECT ` + nodeOfEach + ` AS node, count(*) AS gone FROM json_each(?4) j GROUP BY 1) g
		WHERE n.key_id = ` + liveID + ` AND n.first_id = g.node AND ` + someNodes
	sqlNodesEmpty = `DELETE FROM stream_nodes WHERE key_id = ` + liveID + ` AND count <= 0 AND ` + someNodes
)

// nodeOf reads the row of sqlNodeLast, nil without one.
func nodeOf(rows []store.Row) *streamNode {
	if len(rows) == 0 {
		return nil
	}
	r := rows[0]
	return &streamNode{streamIDOf(r[0]), streamIDOf(r[1]), r[2].Int(), r[3].Int(), r[4].Int(), shortNames(r[5].Bytes())}
}

// Limits of a node that has none of its own: Redis's.
const (
	mostNodeBytes   = 1 << 30
	listpackOutside = 7 // bytes of a listpack beside its elements
)

// takes reports whether the node has room for one more entry.
func (n *streamNode) takes(fields [][]byte, l Limits) bool {
	most := l.NodeBytes
	if most == 0 || most > mostNodeBytes {
		most = mostNodeBytes
	}
	size := n.bytes + packedInt(n.count) + packedInt(n.deleted)
	for _, f := range fields {
		size += int64(len(f))
	}
	return size < most && (l.NodeEntries == 0 || n.count+n.deleted < l.NodeEntries)
}

// newNode is a node of one entry.
func newNode(id streamID, fields [][]byte) *streamNode {
	names := namesOf(fields)
	n := &streamNode{first: id, names: nodeNames(names), bytes: listpackOutside + packedInt(int64(len(names))) + packedInt(0)}
	for _, name := range names {
		n.bytes += packedText(name)
	}
	n.add(id, fields)
	return n
}

// add puts an entry at the end of the node.
func (n *streamNode) add(id streamID, fields [][]byte) {
	names := namesOf(fields)
	elements := int64(len(names)) + 3
	n.bytes += packedInt(0) + packedInt(int64(id.ms-n.first.ms)) + packedInt(int64(id.seq-n.first.seq))
	if !bytes.Equal(nodeNames(names), n.names) {
		n.bytes += packedInt(int64(len(names)))
		elements += int64(len(names)) + 1
		for _, name := range names {
			n.bytes += packedText(name)
		}
	}
	for i := 1; i < len(fields); i += 2 {
		n.bytes += packedText(fields[i])
	}
	n.bytes += packedInt(elements)
	n.last = id
	n.count++
}

func namesOf(fields [][]byte) [][]byte {
	names := make([][]byte, 0, len(fields)/2)
	for i := 0; i < len(fields); i += 2 {
		names = append(names, fields[i])
	}
	return names
}

// nodeNames is what a node remembers of names: themselves, packed, or when they are long
// the sum of that.
func nodeNames(names [][]byte) []byte {
	if packedSize(names) <= longNames {
		return PackFields(names)
	}
	h := sha256.New()
	var length [binary.MaxVarintLen64]byte
	for _, name := range names {
		h.Write(binary.AppendUvarint(length[:0], uint64(len(name))))
		h.Write(name)
	}
	return h.Sum(nil)
}

// shortNames are the names that a node has, which may be long ones in full: earlier
// versions kept them so.
func shortNames(names []byte) []byte {
	if len(names) <= longNames {
		return names
	}
	sum := sha256.Sum256(names)
	return sum[:]
}

// longNames is how many bytes of names a node has in full.
const longNames = 1 << 10

// packedInt is how many bytes an integer takes in a listpack.
func packedInt(n int64) int64 {
	switch {
	case 0 <= n && n < 1<<7:
		return 1 + 1
	case -1<<12 <= n && n < 1<<12:
		return 2 + 1
	case -1<<15 <= n && n < 1<<15:
		return 3 + 1
	case -1<<23 <= n && n < 1<<23:
		return 4 + 1
	case -1<<31 <= n && n < 1<<31:
		return 5 + 1
	}
	return 9 + 1
}

// packedText is packedInt for a string, which may be that of an integer.
func packedText(s []byte) int64 {
	if len(s) <= maxIntegerDigits {
		if n, err := strconv.ParseInt(string(s), 10, 64); err == nil && strconv.FormatInt(n, 10) == string(s) {
			return packedInt(n)
		}
	}
	size := int64(len(s))
	switch {
	case size < 1<<6:
		size++
	case size < 1<<12:
		size += 2
	default:
		size += 5
	}
	switch {
	case size <= 127:
		return size + 1
	case size < 16383:
		return size + 2
	case size < 2097151:
		return size + 3
	case size < 268435455:
		return size + 4
	}
	return size + 5
}

// appendNode accounts for a new entry at the end of a stream, whose last node is n.
func (c *Call) appendNode(key []byte, n *streamNode, id streamID, fields [][]byte) store.Stmt {
	if n == nil || !n.takes(fields, c.limits()) {
		return c.makeNodes(key, []*streamNode{newNode(id, fields)})
	}
	n.add(id, fields)
	return store.Stmt{SQL: sqlNodeGrow, Args: append(c.key(key)[:2], n.first.value(), n.last.value(), store.Int(n.bytes))}
}

func (c *Call) makeNodes(key []byte, nodes []*streamNode) store.Stmt {
	var rows []byte
	for _, n := range nodes {
		rows = appendHex(append(rows, ",["...), n.first.bytes())
		rows = appendHex(append(rows, ','), n.last.bytes())
		rows = strconv.AppendInt(append(rows, ','), n.count, 10)
		rows = strconv.AppendInt(append(rows, ','), n.bytes, 10)
		rows = append(appendHex(append(rows, ','), n.names), ']')
	}
	rows[0] = '['
	return store.Stmt{SQL: sqlNodeMake, Args: append(c.key(key)[:2], store.TextBytes(append(rows, ']')))}
}

// dropEntries deletes entries, all of which are there.
func (c *Call) dropEntries(key []byte, ids []streamID) []store.Stmt {
	list := streamIDs(ids)
	return []store.Stmt{c.stmt(sqlStreamDrop, key, list), c.shrunk(key), c.stmt(sqlNodesShrink, key, list), c.stmt(sqlNodesEmpty, key, list)}
}
