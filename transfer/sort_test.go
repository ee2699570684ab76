package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/transfer"
)

// stringPart returns a string key as a part.
func stringPart(db int, name, value string) transfer.Part {
	return transfer.Whole(&transfer.Key{DB: db, Name: []byte(name), Type: transfer.StringType}, rdb.String(value))
}

// TestSortByName sorts keys in runs. Written is called after each run, shown as "|".
func TestSortByName(t *testing.T) {
	race.Skip(t)
	long := strings.Repeat("x", 2<<20)
	broken := errors.New("broken")
	steps := func(n int) (parts []transfer.Part) {
		for i := range n {
			parts = append(parts, stringPart(0, fmt.Sprintf("k%05d", (i*7919)%n), "v"))
		}
		return parts
	}
	for name, test := range map[string]struct {
		parts []transfer.Part
		bytes int
		err   error // after the parts
		want  string
	}{
		"nothing": {want: "|"},
		"one run": {parts: []transfer.Part{stringPart(0, "c", "1"), stringPart(0, "a", "2"), stringPart(0, "", "3"), stringPart(0, "ab", "4")}, want: "=3 a=2 ab=4 c=1 |"},
		"beyond eight bytes": {parts: []transfer.Part{stringPart(0, "a12345678c", "1"), stringPart(0, "b", "2"), stringPart(0, "a12345678b", "3")},
			want: "a12345678b=3 a12345678c=1 b=2 |"},
		"one name":   {parts: []transfer.Part{stringPart(0, "b", "1"), stringPart(0, "a", "2"), stringPart(0, "b", "3"), stringPart(0, "a", "4")}, want: "a=2 a=4 b=1 b=3 |"},
		"databases":  {parts: []transfer.Part{stringPart(0, "c", "1"), stringPart(0, "b", "2"), stringPart(1, "c", "3"), stringPart(1, "a", "4")}, want: "b=2 c=1 | a=4 c=3 |"},
		"a long key": {parts: []transfer.Part{stringPart(0, "c", "1"), stringPart(0, "b", "2"), stringPart(0, "b", long), stringPart(0, "a", "4")}, want: "b=2 c=1 | b=long a=4 |"},
		"memory": {parts: []transfer.Part{stringPart(0, "c", "1"), stringPart(0, "b", "2"), stringPart(0, "a", "3"), stringPart(0, "e", "5"), stringPart(0, "d", "6"), stringPart(0, "c", "7")},
			bytes: 64 * 20, want: "c=1 | a=3 b=2 | c=7 d=6 e=5 |"},
		"an error": {parts: []transfer.Part{stringPart(0, "c", "1"), stringPart(0, "b", "2")}, err: broken, want: "b=2 c=1 | broken"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			source := func(yield func(transfer.Part, error) bool) {
				for _, p := range test.parts {
					if !yield(p, nil) {
						return
					}
				}
				if test.err != nil {
					yield(transfer.Part{}, test.err)
				}
			}
			o := transfer.SortOptions{Bytes: test.bytes, Written: func() error { got = append(got, "|"); return nil }}
			for p, err := range transfer.SortByName(context.Background(), source, o) {
				if err != nil {
					got = append(got, err.Error())
					break
				}
				value := string(p.Value.(rdb.String))
				if value == long {
					value = "long"
				}
				got = append(got, fmt.Sprintf("%s=%s", p.Key.Name, value))
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
	// The clock is read with each 1024 keys. A run takes 3 s, later as long as the runs before it, 30 s at most.
	for step, want := range map[time.Duration]int{time.Minute: 5, 2 * time.Second: 2, time.Millisecond: 1} {
		t.Run(fmt.Sprintf("a source that takes %v", step), func(t *testing.T) {
			now, runs := time.Time{}, 0
			o := transfer.SortOptions{Now: func() time.Time { now = now.Add(step); return now }, Written: func() error { runs++; return nil }}
			source := func(yield func(transfer.Part, error) bool) {
				for _, p := range steps(5_000) {
					if !yield(p, nil) {
						return
					}
				}
			}
			for _, err := range transfer.SortByName(context.Background(), source, o) {
				if err != nil {
					t.Fatal(err)
				}
			}
			if runs != want {
				t.Errorf("%d runs, want %d", runs, want)
			}
		})
	}
}

// TestSortedTypes moves every type of value through a sorted run.
func TestSortedTypes(t *testing.T) {
	race.Skip(t)
	from, _ := openLocal(t)
	to, _ := openLocal(t)
	run(t, from, sample()...)
	run(t, from, vectorSets()...)
	ctx := context.Background()
	var told problems
	w := transfer.NewWriter(to, transfer.WriteOptions{Notify: told.add})
	source := transfer.SortByName(ctx, transfer.FromSession(ctx, from, transfer.ReadOptions{}), transfer.SortOptions{})
	if err := transfer.Run(ctx, source, w, told.add, nil); err != nil || len(told) > 0 {
		t.Fatal(err, told)
	}
	same(t, contents(t, to, 0, 3), contents(t, from, 0, 3))
}
