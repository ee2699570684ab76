package cmd

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/meowdis/meowdis/cmd/internal/profile"
)

func TestOwnDecoders(t *testing.T) {
	var running sync.WaitGroup
	find := ownDecoders(&profile.Inspect{Decoders: map[string]profile.Decoder{
		"upper": {Keys: "text:*", Command: []string{"tr", "a-z", "A-Z"}},
		"again": {Keys: "text:again", Command: []string{"cat"}},
		"fails": {Keys: "bad:*", Command: []string{"sh", "-c", "echo no such thing >&2; exit 3"}},
		"large": {Keys: "large:*", Command: []string{"sh", "-c", "head -c 9000000 /dev/zero; sleep 1000"}},
		"named": {Keys: "line:*", Protobuf: "../keyspace/decode/testdata/shop.pb", Message: "shop.Order.Line"},
		"plain": {Keys: "plain:*", Protobuf: "../keyspace/decode/testdata/shop.proto", Message: "shop.Order.Line"},
		"wrong": {Keys: "none:*", Protobuf: "../keyspace/decode/testdata/shop.pb", Message: "shop.None"},
		"gone":  {Keys: "gone:*", Protobuf: "no.pb", Message: "shop.None"},
		"deaf":  {Keys: "deaf:*", Command: []string{"echo", "heard nothing"}},
	}}, &running)
	if find("other") != nil {
		t.Error("a decoder for a key that no pattern matches")
	}
	for _, c := range []struct{ key, name, out, err string }{
		{"text:1", "upper", "HELLO", ""},
		{"text:again", "again", "hello", ""},
		{"bad:1", "fails", "", "exit status 3: no such thing"},
		{"large:1", "large", "", "it wrote more than 4.0 MB"},
		{"line:1", "named", "", "it is no message shop.Order.Line"},
		{"none:1", "wrong", "", "it has no message \"shop.None\""},
		{"gone:1", "gone", "", "no.pb"},
		{"deaf:1", "deaf", "heard nothing\n", ""},
	} {
		d := find(c.key)
		if d == nil || d.Name != c.name {
			t.Fatalf("%s: %v", c.key, d)
		}
		out, err := d.Run(context.Background(), []byte("hello"))
		if string(out) != c.out || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q %v, want %q %s", c.key, out, err, c.out, c.err)
		}
	}
	for _, key := range []string{"line:1", "plain:1"} {
		if out, err := find(key).Run(context.Background(), []byte("\x0a\x01x")); err != nil || string(out) != "shop.Order.Line {\n  sku: \"x\"\n}" {
			t.Errorf("a message of %s: %s %v", key, out, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := runDecoder(ctx, []string{"sleep", "1000"}, nil); err == nil {
		t.Error("a decoder that was left behind goes on")
	}
	if ownDecoders(nil, &running) != nil {
		t.Error("decoders without a configuration")
	}
}
