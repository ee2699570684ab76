package otherformats

import (
	"bytes"
	"errors"
	"io"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// entryID is the bytes of the id whose two numbers these are.
func entryID(ms, seq string) string { return "unhex(printf('%016x%016x', " + ms + ", " + seq + "))" }

// noID is the id 0-0.
const noID = "zeroblob(16)"

// redliteStreams reads Redlite's streams. What it does not keep is made up: the
// last id is the greatest that is known, nothing was ever deleted, and how much a
// group has read is unknown.
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
			computed("added", "(SELECT count(*) FROM main.streams e WHERE e.key_id = k.id)")).only("k.type = 6"),
		table("stream_entries", "main.streams e", "e.rowid", owner("e.key_id", 100), id16("id", "e.entry_ms", "e.entry_seq"),
			Column{Name: "fields", Form: Entry, read: "e.data"}),
		f.table("stream_groups", "stream_groups", "main.stream_groups g", "g.rowid",
			owner("g.key_id", 10), text("name", "g.name"), computed("last_id", entryID("g.last_ms", "g.last_seq"))),
		// A name with entries pending is a consumer, also one that was not written down.
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

// EntryFields reads the fields and values of an entry of Redlite's: an array of
// pairs, each an array of two, whose parts are bytes or an array of each byte.
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
