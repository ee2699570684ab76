package value

import (
	"strconv"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store/keytype"
)

const lastSlot = keytype.LastSlot

// slotsOf shows the values of an array with their indexes, without the empty slots.
var slotsOf = &source{
	sourceShape: sourceShape{full: true},
	columns:     []column{{title: "#", right: true}, {title: "VALUE"}},
	decode: func(_ int64, v resp.Value) *chunk {
		c := &chunk{}
		for _, slot := range slots(v) {
			c.rows = append(c.rows, record{client.Text(slot[0]), client.Text(slot[1])})
		}
		if n := len(c.rows); n > 0 {
			c.next = slotAfter(c.rows[n-1][0])
		}
		return c
	},
}

// slots returns the index and value pairs of an ARSCAN reply, which is flat or in pairs.
func slots(v resp.Value) (found [][2]resp.Value) {
	flat := v.Elems
	if len(flat) > 0 && len(flat[0].Elems) == 2 {
		flat = nil
		for _, pair := range v.Elems {
			flat = append(flat, pair.Elems...)
		}
	}
	for ; len(flat) >= 2; flat = flat[2:] {
		found = append(found, [2]resp.Value{flat[0], flat[1]})
	}
	return found
}

// slotAfter returns the index after index, or "" after the last one.
func slotAfter(index string) string {
	n, err := strconv.ParseUint(index, 10, 64)
	if err != nil || index == lastSlot {
		return ""
	}
	return strconv.FormatUint(n+1, 10)
}
