package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// The classes and the bars of times, as redis-server shows them.
func TestTimes(t *testing.T) {
	all := New()
	get := commands.Lookup("GET")
	for _, micros := range []time.Duration{1, 2, 7, 18, 130, 260, 2_000_000} {
		all.Ran(get, nil, micros*time.Microsecond, &resp.OK)
	}
	s := all.Stats()
	if len(s) != 1 || s[0].Command != get || s[0].Calls != 7 || all.Calls() != 7 || all.Took() != 2_000_418*time.Microsecond {
		t.Fatalf("the stats are %+v", s)
	}
	if got, want := fmt.Sprint(s[0].Percentiles([]float64{0, 50, 99, 100})), "[1003 18047 1002438655 1002438655]"; got != want {
		t.Errorf("percentiles %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(s[0].Bars()), "[{1 1} {2 2} {8 3} {33 4} {132 5} {264 6} {1073741 7}]"; got != want {
		t.Errorf("bars %s, want %s", got, want)
	}
	all.Reset()
	if len(all.Stats()) != 0 || all.Calls() != 0 {
		t.Error("something is counted after Reset")
	}
	all.Track(false)
	all.Ran(get, nil, time.Second, &resp.OK)
	if s := all.Stats()[0]; s.Tracked() || s.Calls != 1 {
		t.Errorf("untracked: %+v", s)
	}
}

// A class contains its own highest time, and every class has one.
func TestClasses(t *testing.T) {
	for class := range classOf(uint64(longest)) + 1 {
		if got := classOf(highest(class)); got != class {
			t.Fatalf("class %d ends at %d ns, which is of class %d", class, highest(class), got)
		}
		if got := classOf(highest(class) + 1); got != class+1 {
			t.Fatalf("%d ns is of class %d, want %d", highest(class)+1, got, class+1)
		}
	}
}
