package value

import (
	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/redis/resp"
)

// vectorsOf shows the elements of a vector set. Each leads to its attributes.
var vectorsOf = &source{
	sourceShape: sourceShape{full: true},
	columns:     []column{{title: "ELEMENT"}},
	decode: func(_ int64, v resp.Value) *chunk {
		c := &chunk{}
		for _, name := range v.Elems {
			c.rows = append(c.rows, record{client.Text(name)})
		}
		c.chain()
		return c
	},
	inner: func(row record) *source { return attributesOf(row[0]) },
}

// attributesOf shows the attributes of an element; the other side is its vector.
func attributesOf(element string) *source {
	vector := &source{
		unit: [2]string{"component", "components"}, sourceShape: sourceShape{full: true},
		columns: []column{{title: "#", right: true}, {title: "VALUE", right: true}},
		fetch:   func(key string, _ int64, _ chunkRequest) [][]byte { return client.Command("VEMB", key, element) },
		decode: func(first int64, v resp.Value) *chunk {
			c := indexed(first, v)
			c.next = ""
			return c
		},
	}
	vector.other = &source{
		unit: [2]string{"attribute text", "attribute texts"}, sourceShape: sourceShape{full: true, other: vector},
		columns: []column{{title: "ATTRIBUTES"}},
		fetch:   func(key string, _ int64, _ chunkRequest) [][]byte { return client.Command("VGETATTR", key, element) },
		decode: func(_ int64, v resp.Value) *chunk {
			if v.IsNull() {
				return &chunk{}
			}
			return &chunk{rows: []record{{client.Text(v)}}}
		},
	}
	return vector.other
}
