package rest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// TestPackedBody compares the bodies of packed replies with the bodies of the same replies in Elems.
func TestPackedBody(t *testing.T) {
	for _, kind := range []resp.Kind{resp.Array, resp.Map, resp.Set, resp.Scored} {
		p, plain := resp.NewPacked(2), resp.Value{Kind: kind}
		for i := range 10_000 {
			text := fmt.Appendf(nil, "é\xff%d", i)
			p.Row(0, len(text))
			p.Bulk(text)
			p.Double(float64(i) / 3)
			plain.Elems = append(plain.Elems, resp.MakeBulk(text), resp.MakeDouble(float64(i)/3))
		}
		for _, f := range []form{{}, {base64: true}, {resp2: true}} {
			for _, many := range []bool{false, true} {
				body := func(v resp.Value) (all []byte) {
					rest := Answer{form: f, replies: []resp.Value{v, resp.OK}, many: many}.Body(func(b []byte) { all = append(all, b...) })
					return append(all, rest...)
				}
				got, want := body(resp.Value{Kind: kind, Packed: p}), body(plain)
				if !bytes.Equal(got, want) {
					t.Errorf("kind %d, %+v: %.100q, want %.100q", kind, f, got, want)
				}
			}
		}
	}
}
