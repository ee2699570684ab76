package decode

import (
	"encoding/hex"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is shown into the file of samples")

// samples holds values from Python 3.11, Java 17, PHP's manual and other sources: a name, the
// bytes in hex, and after the dashes the expected text.
const samples = "testdata/serialized.txt"

func TestSerialized(t *testing.T) {
	file, err := os.ReadFile(samples)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimPrefix(string(file), "# "), "\n# ") {
		name, rest, _ := strings.Cut(block, "\n")
		digits, want, _ := strings.Cut(rest, "\n----\n")
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		shown := Value(b, Options{})
		got := shown.Names() + "\n" + shown.Text
		if shown.Note != "" {
			got += "\n" + shown.Note
		}
		out.WriteString("# " + name + "\n" + digits + "\n----\n" + got + "\n\n")
		if strings.TrimSpace(want) != got && !*update {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
		for n := range len(b) { // truncated input must not panic or pass as complete
			if cut := Value(b[:n], Options{}); cut.Names() == shown.Names() && strings.HasPrefix(shown.Names(), "pickle") {
				t.Errorf("%s, cut to %d bytes, is %s", name, n, cut.Text)
			}
		}
	}
	if *update {
		if err := os.WriteFile(samples, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSerializedBounds checks that small input cannot expand to large output.
func TestSerializedBounds(t *testing.T) {
	// Each list contains the previous list ten times.
	bomb := "\x80\x04]\x94"
	for i := range 30 {
		bomb += "](" + strings.Repeat("h"+string(rune(i)), 10) + "e\x94"
	}
	deep := "\x80\x04]" + strings.Repeat("]\x85", 100_000) + "."
	for name, v := range map[string]string{
		"lists of lists":   bomb + ".",
		"tuples of tuples": "\x80\x04)" + strings.Repeat("\x85", 200_000) + ".",
		"a stack":          deep,
		"arrays of PHP":    strings.Repeat("a:1:{i:0;", 100_000),
		"messages":         strings.Repeat("\x0a\x7f", 100_000),
		"a long number":    "\x80\x02\x8b\xff\xff\x0f\x00" + strings.Repeat("\x7f", 0xfffff) + ".",
	} {
		if shown := Value([]byte(v), Options{MaxBytes: 1 << 21}); len(shown.Text) > 1<<22 {
			t.Errorf("%s: %d bytes are shown as %d", name, len(v), len(shown.Text))
		}
	}
}

// TestNoMessage checks that random bytes are rarely taken for a message.
func TestNoMessage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const all = 20_000
	found := 0
	for range all {
		b := make([]byte, 4+r.IntN(28))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		if Value(b, Options{}).Names() == "Protobuf" {
			found++
		}
	}
	if found > all/100 {
		t.Errorf("%d of %d random values are messages", found, all)
	}
	if got := Value([]byte("\x08\x01"), Options{}).Names(); got != "binary" {
		t.Errorf("two bytes of a bitmap are %s", got)
	}
}
