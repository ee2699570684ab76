package sortedrun

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// nameOf returns the name in a record of the form "name=number;".
func nameOf(record []byte) []byte { return record[:bytes.IndexByte(record, '=')] }

func drain(r *Run) (records []string) {
	for b := range r.Drain() {
		records = append(records, string(b[:bytes.IndexByte(b, ';')]))
	}
	return records
}

// TestDrain sorts names that share prefixes of every length, and keeps the order of equal names.
func TestDrain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, prefix := range []string{"", "k", "12345678", "a long prefix of names:"} {
		r := New(nameOf, 0)
		var want []string
		for i := range 5_000 {
			record := fmt.Sprintf("%s%s=%06d", prefix, strings.Repeat("x", random.IntN(20))+fmt.Sprint(random.IntN(30)), i)
			r.Add([]byte(record + ";"))
			want = append(want, record)
		}
		slices.SortFunc(want, func(a, b string) int {
			nameA, numberA, _ := strings.Cut(a, "=")
			nameB, numberB, _ := strings.Cut(b, "=")
			if nameA != nameB {
				return strings.Compare(nameA, nameB)
			}
			return strings.Compare(numberA, numberB)
		})
		if r.Len() != len(want) {
			t.Errorf("%d records", r.Len())
		}
		if got := drain(r); !slices.Equal(got, want) {
			t.Errorf("prefix %q: wrong order", prefix)
		}
		if r.Len() != 0 || len(drain(r)) != 0 {
			t.Error("the run is not empty")
		}
	}
}

// TestFull: full runs double up to the limit; a run that ends early does not.
func TestFull(t *testing.T) {
	const record = 100 // bytes with the position
	r := New(nameOf, 4*firstShare*record)
	var sizes []int
	for range 9 {
		for !r.Full() {
			r.Add(append([]byte("n="), bytes.Repeat([]byte("0"), record-positionBytes-2)...))
		}
		sizes = append(sizes, r.Len())
		for range r.Drain() {
		}
		r.Add([]byte("n=1;"))
		for range r.Drain() {
		}
	}
	if want := []int{4, 8, 16, 32, 64, 128, 256, 256, 256}; !slices.Equal(sizes, want) {
		t.Errorf("%d records in a run, want %d", sizes, want)
	}
}
