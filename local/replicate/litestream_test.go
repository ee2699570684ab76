package replicate

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
)

// TestLitestream restores a stream with litestream's own code, at its end and at an earlier moment.
func TestLitestream(t *testing.T) {
	if testing.Short() {
		t.Skip("it is compiled for this")
	}
	litestream := filepath.Join(t.TempDir(), "litestream")
	build := exec.Command("go", "build", "-o", litestream, ".")
	build.Dir = "../../internal/test/litestream"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := directoryPlace(t)
	m := openMaster(t, filepath.Join(t.TempDir(), "cats.sqlite"), p)
	m.now = m.now.Add(-20 * time.Hour)
	began := m.now
	for i := range 60 {
		m.do("SET", "tom", fmt.Sprint(i))
		m.do("RPUSH", "list", string(make([]byte, i*100)))
		if i == 40 {
			m.do("FLUSHALL")
			m.do("SET", "tom", "40")
		}
		m.ship()
		m.now = m.now.Add(10 * time.Minute)
	}
	for i, moment := range []string{"", began.Add(255 * time.Minute).UTC().Format(time.RFC3339Nano)} {
		path := filepath.Join(t.TempDir(), "restored.sqlite")
		args := []string{string(p.files.(directory)), path}
		if moment != "" {
			args = append(args, moment)
		}
		if out, err := exec.Command(litestream, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		file, err := local.Open(path, local.Options{SweepEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		examine(t, file)
		if got, want := get(t, engine.New(file).Session(), "tom"), []string{"59", "25"}[i]; got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
