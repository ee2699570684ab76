package flags

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestInterval(t *testing.T) {
	for text, want := range map[string]time.Duration{"2": 2 * time.Second, "0.5": 500 * time.Millisecond, "250ms": 250 * time.Millisecond, "0": 0, "1h": time.Hour} {
		var i Interval
		if err := i.Set(text); err != nil || time.Duration(i) != want {
			t.Errorf("%q: %v, %v", text, time.Duration(i), err)
		}
		if again := i; again.Set(i.String()) != nil || again != i {
			t.Errorf("%q is shown as %s, which is another time", text, &i)
		}
	}
	for _, text := range []string{"", "x", "-1", "-2s", "9000h", "NaN", "1e99"} {
		if i := Interval(7); i.Set(text) == nil || i != 7 {
			t.Errorf("%q is taken for %v", text, time.Duration(i))
		}
	}
}

func TestExclusive(t *testing.T) {
	cmd := &cobra.Command{}
	cmd.Flags().BoolP("json", "j", false, "")
	cmd.Flags().Bool("csv", false, "")
	cmd.Flags().Set("json", "true")
	if err := Exclusive(cmd, "json", "csv"); err != nil {
		t.Error(err)
	}
	cmd.Flags().Set("csv", "true")
	if err := Exclusive(cmd, "json", "csv"); err == nil || !strings.Contains(err.Error(), "--json and --csv") {
		t.Error(err)
	}
	if got := Names(cmd.Flags().Lookup("json")) + " " + Names(cmd.Flags().Lookup("csv")); got != "-j, --json --csv" {
		t.Error(got)
	}
}
