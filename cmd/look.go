package cmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/survey"
)

// addLookFlags adds the flags of the target to a verb that writes nothing.
func (o *targetOptions) addLookFlags(cmd *cobra.Command) {
	o.addFlags(cmd)
	cmd.Flags().Lookup("full").Hidden = true
}

// lookCache is little: who looks at a file seeks, or goes through all keys once.
const lookCache = 2 << 20

// lookOnly is how a verb that writes nothing opens a file.
var lookOnly = local.Options{ReadOnly: true, Cache: lookCache}

// look connects to the target, runs fn, and closes the connection.
func (o *targetOptions) look(ctx context.Context, s *streams, file local.Options, fn func(*connection) error) (err error) {
	t, err := o.resolve(s.getenv)
	if err != nil {
		return err
	}
	o.tell(t, s)
	c, err := o.enter(ctx, t, file)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, c) }()
	return answered(s, fn(c))
}

// tables reads the keys of the connection's database from the tables of its file.
func (c *connection) tables() survey.File {
	return survey.File{Transact: c.file.Transact, DB: c.DB(), Now: time.Now().UnixMilli()}
}

// walk goes through the keys of the connection's database by commands. Bytes are
// those that tables has wherever there are tables.
func (c *connection) walk(facts survey.Facts) survey.Walk {
	w := survey.Walk{Client: c, Facts: facts}
	if c.file != nil {
		w.Bytes = c.tables().Measure
	}
	return w
}

// measure is where the bytes of the connection's keys come from.
func (c *connection) measure() survey.Measure {
	if c.file != nil {
		return survey.Tables
	}
	return survey.MemoryUsage
}

// answered makes an error reply that ended the work the end of the run, told as
// it is.
func answered(s *streams, err error) error {
	var refusal survey.Refusal
	if errors.As(err, &refusal) {
		fmt.Fprintf(s.err, "meowdis: %s\n", refusal)
		return errAnswered
	}
	return err
}

// room is the number of columns and lines of the terminal; 80 columns and no end
// of lines elsewhere, unless the environment says otherwise.
func (s *streams) room() (columns, lines int) {
	if s.outTerminal {
		if columns, lines, err := s.size(); err == nil && columns > 0 {
			return columns, lines
		}
	}
	if n, err := strconv.Atoi(s.getenv("COLUMNS")); err == nil && n > 0 {
		return n, 0
	}
	return 80, 0
}

// ended tells errEnough and the end of the context from failures: both end a
// work as they should.
func ended(ctx context.Context, err error) error {
	if errors.Is(err, errEnough) || wasStopped(ctx, err) {
		return nil
	}
	return err
}

// errEnough ends a walk of which no more is wanted.
var errEnough = errors.New("enough")
