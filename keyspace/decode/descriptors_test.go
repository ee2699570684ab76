package decode

import (
	"encoding/hex"
	"os"
	"testing"
)

// order is an Order of testdata/shop.proto, encoded by Go's own Protocol Buffers library.
// shop.pb is the compiled shop.proto.
const order = "08ffffffffffffffffff011203416e6e1801220e0a0161100519000000000000f83f22030a01622a0d01feffffffffffffffff01ac0232050a017810073a06088081c8ac06550100000055020000005d0000803e620c0001ffffffffffffffffff016a07080512030a016372080000c03f000000c079f7ffffffffffffff4a0200ff"

const shownOrder = `shop.Order {
  id: 18446744073709551615
  customer: "Ann"
  state: PAID
  lines: [
    {
      sku: "a"
      count: -3
      price: 1.5
    }
    {
      sku: "b"
    }
  ]
  codes: [
    1
    -2
    300
  ]
  stock: {
    "x": 7
  }
  at: {
    seconds: 1704067200
  }
  marks: [
    1
    2
  ]
  rate: 0.25
  states: [
    NEW
    PAID
    LOST
  ]
  by: {
    5: {
      sku: "c"
    }
  }
  rates: [
    1.5
    -2
  ]
  back: -9
  token: bytes "\x00\xff"
}`

func shop(t testing.TB) *Descriptors {
	file, err := os.ReadFile("testdata/shop.pb")
	if err != nil {
		t.Fatal(err)
	}
	d, err := ParseDescriptors(file)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDescriptors(t *testing.T) {
	d := shop(t)
	b, err := hex.DecodeString(order)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"shop.Order": true, "shop.Order.Line": true, "google.protobuf.Timestamp": true, "Order": false, "shop.State": false} {
		if d.Has(name) != want {
			t.Errorf("%s is there: %v", name, !want)
		}
	}
	if got, err := d.Show("shop.Order", b, 1<<20); got != shownOrder || err != nil {
		t.Errorf("got %s %v", got, err)
	}
	if got, err := d.Show("shop.Order.Line", []byte("\x0a\x01x\x98\x06\x05"), 1<<20); err != nil || got != "shop.Order.Line {\n  sku: \"x\"\n  99: 5\n}" {
		t.Errorf("with a field that is not in its type: %s %v", got, err)
	}
	for _, bad := range []string{"\x0a", "\x08\x01", "\x12\x01", "\x19\x00"} { // truncated, or of another wire format
		if got, err := d.Show("shop.Order.Line", []byte(bad), 1<<20); err == nil {
			t.Errorf("%q is shown as %s", bad, got)
		}
	}
	for _, bad := range []string{"", "text", "\x0a\x02\x22\x05"} {
		if _, err := ParseDescriptors([]byte(bad)); err == nil {
			t.Errorf("%q is a file of descriptors", bad)
		}
	}
}

// TestProtoSource checks that a .proto file and its compiled form give the same result.
func TestProtoSource(t *testing.T) {
	b, err := hex.DecodeString(order)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"cycle.proto": `syntax = "proto3"; import "cycle.proto"; import "missing.proto"; package a.b;
			message M { message N { enum N { X = 0; } N n = 1; a.N up = 2; .a.b.M.N down = 3; missing.T gone = 4; repeated group G = 5 { } } N n = 1; }
			extend M { int32 more = 100; } import "up.proto";`,
		"up.proto":    `package a; message N { optional string s = 1; }`,
		"wrong.proto": `message {`,
		"two.proto":   `import "wrong.proto"; message M {}`,
	}
	read := func(name string) (string, error) {
		if text, ok := files[name]; ok {
			return text, nil
		}
		text, err := os.ReadFile("testdata/" + name)
		return string(text), err
	}
	d, err := ParseProto("shop.proto", read)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.Show("shop.Order", b, 1<<20); got != shownOrder || err != nil {
		t.Errorf("got %s %v", got, err)
	}
	if d, err = ParseProto("cycle.proto", read); err != nil {
		t.Fatal(err)
	}
	const want = "a.b.M {\n  n: {\n    n: X\n    up: {\n      s: \"x\"\n    }\n    down: {}\n    4: 7\n  }\n}"
	if got, err := d.Show("a.b.M", []byte("\x0a\x0b\x08\x00\x12\x03\x0a\x01x\x1a\x00\x20\x07"), 1<<20); got != want || err != nil {
		t.Errorf("got %s %v", got, err)
	}
	for _, name := range []string{"wrong.proto", "two.proto", "none.proto"} {
		if _, err := ParseProto(name, read); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func FuzzDescriptors(f *testing.F) {
	d := shop(f)
	b, _ := hex.DecodeString(order)
	f.Add(b)
	file, _ := os.ReadFile("testdata/shop.pb")
	f.Add(file)
	f.Fuzz(func(t *testing.T, b []byte) {
		const most = 1 << 16
		if text, err := d.Show("shop.Order", b, most); err == nil && len(text) > 2*most+len(b)*8 {
			t.Errorf("%d bytes are shown as %d", len(b), len(text))
		}
		if other, err := ParseDescriptors(b); err == nil {
			for name := range other.messages {
				other.Show(name, b, most)
			}
		}
	})
}
