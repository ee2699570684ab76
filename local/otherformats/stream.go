package otherformats

import (
	"bytes"
	"errors"
	"io"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// entryID returns the SQL that encodes the two numbers of an ID as 16 bytes.
func entryID(ms, seq string) string { return "unhex(printf('%016x%016x', " + ms + ", " + seq + "))" }

// noID encodes the ID 0-0.
const noID = "zeroblob(16)"

// redliteStreams reads Redlite's streams. Values that Redlite does not store are made up: the last ID is the
// greatest known one, nothing was ever deleted, and the number of entries read by a group is unknown.
func redliteStreams(f File) []Table {
	if !f.has("streams", "entry_ms") {
		return nil
	}
	last := "max(ifnull((SELECT " + entryID("e.entry_ms", "e.entry_seq") + ` FROM main.streams e WHERE e.key_id = k.id
		ORDER BY e.entry_ms DESC, e.entry_seq DESC LIMIT 1), ` + noID + ")"
	if f.has("stream_groups") {
		last += ", ifnull((SELECT max(" + entryID("g.last_ms", "g.last_seq") + ") FROM main.stream_groups g WHERE g.key_id = k.id), " + noID + ")"
	} else {
		last += ", " + noID
	}
	const group = " JOIN main.stream_groups g ON g.id = "
	return []Table{
		table("streams", "main.keys k", "k.id", owner("k.id", 1), computed("last_id", last+")"), computed("deleted_id", noID),
			computed("added", "(SELECT count(*) FROM main.streams e WHERE e.key_id = k.id)")).withWhere("k.type = 6"),
		table("stream_entries", "main.streams e", "e.rowid", owner("e.key_id", 100), id16("id", "e.entry_ms", "e.entry_seq"),
			Column{Name: "fields", Form: Entry, read: "e.data"}),
		f.table("stream_groups", "stream_groups", "main.stream_groups g", "g.rowid",
			owner("g.key_id", 10), text("name", "g.name"), computed("last_id", entryID("g.last_ms", "g.last_seq"))),
		// A consumer that only appears in pending entries is also listed.
		f.table("stream_consumers", "stream_consumers", `(SELECT group_id, name, max(seen) AS seen FROM (
				SELECT group_id, name, seen_time AS seen FROM main.stream_consumers
				UNION ALL SELECT group_id, consumer, delivered_at FROM main.stream_pending)
			GROUP BY group_id, name) c`+group+"c.group_id", "0",
			owner("g.key_id", 10), text("group_name", "g.name"), text("name", "c.name"), integer("seen_at", "c.seen")),
		f.table("stream_pending", "stream_pending", "main.stream_pending p"+group+"p.group_id JOIN main.streams e ON e.id = p.entry_id", "p.rowid",
			owner("g.key_id", 100), text("group_name", "g.name"), id16("id", "e.entry_ms", "e.entry_seq"), text("consumer", "p.consumer"),
			integer("delivered_at", "p.delivered_at"), integer("deliveries", "p.delivery_count")),
	}
}

var errEntry = errors.New("the fields of a stream's entry are damaged")

// EntryFields decodes the fields and values of a Redlite entry: an array of pairs, each an array of two parts;
// a part is bytes or an array of byte values.
func EntryFields(packed []byte) ([][]byte, error) {
	d := msgpack.NewDecoder(bytes.NewReader(packed))
	pairs, err := d.DecodeArrayLen()
	if err != nil || pairs < 0 {
		return nil, errEntry
	}
	var fields [][]byte
	for range pairs {
		if n, err := d.DecodeArrayLen(); err != nil || n != 2 {
			return nil, errEntry
		}
		for range 2 {
			b, err := packedBytes(d)
			if err != nil {
				return nil, errEntry
			}
			fields = append(fields, b)
		}
	}
	if _, err := d.PeekCode(); !errors.Is(err, io.EOF) {
		return nil, errEntry
	}
	return fields, nil
}

func packedBytes(d *msgpack.Decoder) ([]byte, error) {
	code, err := d.PeekCode()
	if err != nil {
		return nil, err
	}
	if msgpcode.IsBin(code) || msgpcode.IsString(code) {
		return d.DecodeBytes()
	}
	n, err := d.DecodeArrayLen()
	if n < 0 {
		return nil, errEntry
	}
	b := []byte{}
	for i := 0; i < n && err == nil; i++ {
		var c uint8
		c, err = d.DecodeUint8()
		b = append(b, c)
	}
	return b, err
}
