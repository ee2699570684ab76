package script

import (
	"fmt"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// place is where a script broke off: at the line from. What comes before it has run.
// When unknown, it is not known whether it took effect, nor the lines up to to that
// were sent along.
type place struct {
	unit     string // "line"; "command" in the protocol, which has no lines
	from, to int
	unknown  bool
	multi    int    // the line of the MULTI that is open there, 0 for none
	again    string // the command line that takes the rest
}

// brokeOff is cause with what has run, and how to go on.
func (p place) brokeOff(cause error) error {
	before := fmt.Sprintf("the %ss before it have run", p.unit)
	where, goOn := before+", it has not", p.from
	switch {
	case p.multi > 0:
		where, goOn = fmt.Sprintf("the %ss before %d have run, the transaction that it begins has not", p.unit, p.multi), p.multi
	case p.unknown && p.to > p.from:
		where = fmt.Sprintf("%s; whether %ss %d to %d took effect is not known", before, p.unit, p.from, p.to)
	case p.unknown:
		where = before + "; whether it took effect is not known"
	}
	err := fmt.Errorf("%s %d: %w: %s", p.unit, p.from, cause, where)
	if p.unit != "line" { // which tail counts
		return err
	}
	return fmt.Errorf("%w; to go on: tail -n +%d SCRIPT | %s", err, goOn, p.again)
}

// openMulti is the number of the MULTI that is open after the command with the number n
// got the reply v, 0 for none; before is that of the MULTI that was open.
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
