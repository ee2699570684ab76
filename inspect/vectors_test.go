package inspect

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/internal/test/race"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// TestVectorSet opens a vector set, the attributes and the vector of an element, and undoes changes.
func TestVectorSet(t *testing.T) {
	race.Skip(t)
	f := newFile(t).shop()
	f.do(`VADD vec VALUES 3 1 2 0.5 cat SETATTR {"legs":4}`)
	f.do("VADD vec VALUES 3 -1 2 4 dog")
	s := browseOn(t, f, f.fake, 100, 24)
	s.press("o")
	s.typing("vec")
	s.press("enter")
	s.shows("vectorset · 2 elements", "cat", "dog")
	s.press("enter")
	s.shows(`{"legs":4}`)
	s.press("enter")
	s.shows(`"legs": 4`)
	s.press("esc")
	s.press("ctrl+p")
	s.typing("similar")
	s.press("enter")
	s.shows("VSIM vec ELE cat", `1) "cat"`)
	s.press("esc", "]")
	s.shows("0.503937", "2")
	s.press("esc", "esc")
	before := dumpAll(t, f, f.clock.now)
	s.press("w")
	for _, line := range []string{"VADD vec VALUES 3 1 1 1 emu", "VREM vec cat", "VSETATTR vec dog x", "DEL vec"} {
		s.runs(line)
		if dumpAll(t, f, f.clock.now) == before {
			t.Errorf("%s changed nothing:\n%s", line, s.screen())
		}
		s.press("u")
		if after := dumpAll(t, f, f.clock.now); after != before {
			t.Errorf("%s is not undone:\n%s\n%s", line, before, after)
		}
	}
}

// before84 is a target without VRANGE, as Redis before 8.4.
type before84 struct {
	keyspace.Client
	asked int
}

func (b *before84) Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	values, err := b.Client.Pipeline(ctx, calls)
	for i, call := range calls {
		if string(call[0]) == "VRANGE" && err == nil {
			b.asked++
			values[i] = resp.MakeError("ERR unknown command 'VRANGE', with args beginning with: ")
		}
	}
	return values, err
}

// TestVectorSetWithoutRange shows a vector set of a server without paging to its end, with a single
// request.
func TestVectorSetWithoutRange(t *testing.T) {
	race.Skip(t)
	f := newFile(t)
	for i := range 12_000 {
		f.do(fmt.Sprintf("VADD vec VALUES 1 1 e%05d", i))
	}
	old := &before84{Client: f}
	s := browseOn(t, old, f.fake, 100, 24)
	s.press("enter")
	s.shows("vectorset · 12,000 elements", "e00000", "e00009")
	s.press("end")
	s.shows("e11999")
	s.press("home")
	s.shows("e00000")
	if old.asked != 1 {
		t.Errorf("VRANGE was asked for %d times", old.asked)
	}
	if screen := s.screen(); strings.Contains(screen, "unknown command") {
		t.Error(screen)
	}
}
