package server

import "testing"

func TestExposition(t *testing.T) {
	f := family{name: "m", help: "What it is.", kind: counter}
	if got := f.appendTo(nil); len(got) != 0 {
		t.Errorf("without samples: %q", got)
	}
	f.add(1.5, "a", "x\"y\\z\nw", "b", "é")
	f.add(1 << 20)
	h := family{name: "h", help: "Times.", kind: histogram}
	h.distribution([]float64{0.25, 1}, []uint64{1, 3}, 4, 2.5, "a", "x")
	const want = `# HELP m What it is.
# TYPE m counter
m{a="x\"y\\z\nw",b="é"} 1.5
m 1.048576e+06
# HELP h Times.
# TYPE h histogram
h_bucket{a="x",le="0.25"} 1
h_bucket{a="x",le="1"} 3
h_bucket{a="x",le="+Inf"} 4
h_sum{a="x"} 2.5
h_count{a="x"} 4
`
	if got := string(h.appendTo(f.appendTo(nil))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
