package translator

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/meowdis/meowdis/store"
)

// streamNode mirrors a listpack node of Redis, which holds some entries of a stream. Trimming with ~ removes whole
// nodes, so it needs their bounds to trim as Redis does. The entries are in one table, and the nodes in another one
// beside it.
type streamNode struct {
	first, last streamID // of all entries ever in it
	count       int64    // present entries
	deleted     int64    // deleted entries, which occupy space until the node is removed
	bytes       int64    // of the listpack, without its two counts
	names       []byte   // nodeNames of the first entry; entries with the same names are stored shorter
}

const (
	sqlNodeLast = `SELECT first_id, last_id, count, deleted, bytes, names FROM stream_nodes WHERE key_id = ` + liveID + ` ORDER BY first_id DESC LIMIT 1`
	sqlNodeMake = `INSERT INTO stream_nodes(key_id, first_id, last_id, count, deleted, bytes, names)
		SELECT ` + thisID + `, unhex(j.value ->> 0), unhex(j.value ->> 1), j.value ->> 2, 0, j.value ->> 3, unhex(j.value ->> 4) FROM json_each(?3) j`
	sqlNodeGrow = `UPDATE stream_nodes SET last_id = ?4, count = count + 1, bytes = ?5 WHERE key_id = ` + thisID + ` AND first_id = ?3`
)

// These statements account for the deletion of the entries with the IDs ?4, which must all exist. Nodes get smaller,
// and empty ones are removed.
const (
	nodeOfEach     = `(SELECT max(first_id) FROM stream_nodes WHERE key_id = ` + liveID + ` AND first_id <= unhex(j.value))`
	someNodes      = `first_id IN (SELECT ` + nodeOfEach + ` FROM json_each(?4) j)` // otherwise SQLite reads all nodes
	sqlNodesShrink = `UPDATE stream_nodes AS n SET count = count - g.gone, deleted = deleted + g.gone
		FROM (SELECT ` + nodeOfEach + ` AS node, count(*) AS gone FROM json_each(?4) j GROUP BY 1) g
		WHERE n.key_id = ` + liveID + ` AND n.first_id = g.node AND ` + someNodes
	sqlNodesEmpty = `DELETE FROM stream_nodes WHERE key_id = ` + liveID + ` AND count <= 0 AND ` + someNodes
)

// nodeOf decodes the row of sqlNodeLast, nil without one.
func nodeOf(rows []store.Row) *streamNode {
	if len(rows) == 0 {
		return nil
	}
	r := rows[0]
	return &streamNode{streamIDOf(r[0]), streamIDOf(r[1]), r[2].Int(), r[3].Int(), r[4].Int(), shortNames(r[5].Bytes())}
}

// These are Redis's limits for nodes.
const (
	maxNodeBytes    = 1 << 30
	listpackOutside = 7 // bytes of a listpack besides its elements
)

// takes reports whether one more entry fits into the node.
func (n *streamNode) takes(fields [][]byte, l Limits) bool {
	most := l.NodeBytes
	if most == 0 || most > maxNodeBytes {
		most = maxNodeBytes
	}
	size := n.bytes + packedInt(n.count) + packedInt(n.deleted)
	for _, f := range fields {
		size += int64(len(f))
	}
	return size < most && (l.NodeEntries == 0 || n.count+n.deleted < l.NodeEntries)
}

// newNode returns a node with one entry.
func newNode(id streamID, fields [][]byte) *streamNode {
	names := namesOf(fields)
	n := &streamNode{first: id, names: nodeNames(names), bytes: listpackOutside + packedInt(int64(len(names))) + packedInt(0)}
	for _, name := range names {
		n.bytes += packedText(name)
	}
	n.add(id, fields)
	return n
}

// add appends an entry to the node.
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

// nodeNames returns the packed names for comparison with other entries, or their SHA-256 if they are long.
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

// shortNames converts the stored names of a node. Earlier versions stored long names in full.
func shortNames(names []byte) []byte {
	if len(names) <= longNames {
		return names
	}
	sum := sha256.Sum256(names)
	return sum[:]
}

// A node stores up to longNames bytes of names in full.
const longNames = 1 << 10

// packedInt returns the number of bytes of an integer in a listpack.
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

// packedText returns the number of bytes of a string in a listpack, where an integer as text is stored as an integer.
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

// appendNode returns the statement that records a new entry at the end of a stream; n is the stream's last node.
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

// dropEntries returns the statements that delete entries, which must all exist.
func (c *Call) dropEntries(key []byte, ids []streamID) []store.Stmt {
	list := streamIDs(ids)
	return []store.Stmt{c.stmt(sqlStreamDrop, key, list), c.countRemoved(key), c.stmt(sqlNodesShrink, key, list), c.stmt(sqlNodesEmpty, key, list)}
}
