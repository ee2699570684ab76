package script

import (
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// position describes where a script stopped: at the line from, after lines that have run. If unknown is set, the
// lines from to to were sent, and the connection was lost before their replies.
type position struct {
	unit         string // "line", or "command" in the Redis protocol
	from, to     int
	unknown      bool
	multi        int    // the line of the open MULTI, 0 for none
	continueWith string // the command line that runs the rest
}

// wrap wraps cause with the lines that have run, and how to continue.
func (p position) wrap(cause error) error {
	before := fmt.Sprintf("the %ss before it have run", p.unit)
	where, goOn := before+", it has not", p.from
	switch {
	case p.multi > 0:
		where, goOn = fmt.Sprintf("the %ss before %d have run, the transaction that it begins has not", p.unit, p.multi), p.multi
	case p.unknown && p.to > p.from:
		where = fmt.Sprintf("%s; it is unknown whether %ss %d to %d took effect", before, p.unit, p.from, p.to)
	case p.unknown:
		where = before + "; it is unknown whether it took effect"
	}
	err := fmt.Errorf("%s %d: %w: %s", p.unit, p.from, cause, where)
	if p.unit != "line" { // tail counts only lines
		return err
	}
	return fmt.Errorf("%w; to continue: tail -n +%d SCRIPT | %s", err, goOn, p.continueWith)
}

// openMulti returns the number of the open MULTI after command n got the reply v, 0 for none. before is its value
// before the command.
func openMulti(before int, args [][]byte, v resp.Value, n int) int {
	switch name := args[0]; {
	case len(name) > len("DISCARD") || v.IsError() && before == 0:
	case strings.EqualFold(string(name), "MULTI") && !v.IsError():
		return n
	case strings.EqualFold(string(name), "EXEC"), strings.EqualFold(string(name), "DISCARD"):
		return 0
	}
	return before
}
