package corpus

import (
	"testing"

	"github.com/meowdis/meowdis/redis/resp"
)

// Start is the time in Unix ms at the beginning of a transcript, if the test has its own
// clock.
const Start = 1_700_000_000_000

// Play runs the transcript: do carries out the commands, and advance, called
// before a step with a Clock, moves the clock. Without advance the transcript
// ends at the first such step.
func (tr Transcript) Play(t testing.TB, advance func(ms int64), do func(Step) resp.Value) {
	t.Helper()
	for _, s := range tr.Steps {
		if s.Clock != 0 {
			if advance == nil {
				return
			}
			advance(s.Clock)
		}
		if v := do(s); !s.Matches(v) {
			t.Errorf("%s.txt:%d: %q\ngot  %s\nwant %s", tr.Name, s.Line, s.Args, Show(v), s.Want)
		}
	}
}
