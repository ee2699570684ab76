package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/complete"
	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
)

// watchOptions holds the flags and arguments of watch.
type watchOptions struct {
	target   targets.Options
	confirm  confirmOptions
	interval flags.Interval
	limit    int64
	json     bool
	args     []string
}

func newWatch(s *streams) *cobra.Command {
	o := &watchOptions{interval: flags.Interval(2 * time.Second)}
	cmd := &cobra.Command{
		Use:     "watch [FLAGS] [TARGET] COMMAND [ARG...]",
		GroupID: groupInspect,
		Short:   "Run a command repeatedly, and show the changes",
		Long: `Runs a command every two seconds and shows its reply in full screen, with the
changes marked, until Ctrl-C. Into a pipe it prints one reply after the other.
(This is not the command WATCH.)`,
		Example:           `  meowdis watch redis://localhost -i 0.5 INFO stats`,
		ValidArgsFunction: complete.AfterTarget(&o.target, "COMMAND", complete.Call(s.getenv, &o.target, s.waits.target)),
		RunE: func(cmd *cobra.Command, args []string) error {
			own, err := ownArgs(cmd, &o.target, args, targets.Own{What: "COMMAND", Least: 1, Most: -1})
			switch {
			case err != nil:
				return err
			case time.Duration(o.interval) < 10*time.Millisecond:
				return exit.Usagef("-i %s: give at least 0.01 seconds", &o.interval)
			case o.limit < 0:
				return exit.Usagef("--limit %d: give 0 or more", o.limit)
			}
			o.args = own
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.VarP(&o.interval, "interval", "i", "wait `DURATION` between runs")
	f.Int64Var(&o.limit, "limit", 0, "run it at most `NUMBER` times")
	flags.Alias(f, "count", "limit")
	f.BoolVar(&o.json, "json", false, "show JSON")
	o.confirm.addFlags(cmd)
	o.target.AddFlags(cmd)
	return cmd
}

func (o *watchOptions) run(ctx context.Context, s *streams) (err error) {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	file := local.Options{}
	if onlyReads(command(o.args)) {
		file = readOnly
	}
	t, err := o.target.Find(s.getenv, s.err)
	if err != nil {
		return err
	}
	c, err := o.target.Connect(ctx, t, file, o.json)
	if err != nil {
		return err
	}
	defer func() { err = closeConn(err, c) }()
	if err := c.Greet(ctx); err != nil {
		return err
	}
	if err := o.confirm.confirmRun(ctx, s, c.Target, command(o.args)); err != nil {
		return err
	}
	show := func(reply []byte) error { return writeReply(s.screen, reply) }
	if s.outTerminal && s.getenv("TERM") != "dumb" {
		screen := &watchScreen{streams: s, title: fmt.Sprintf("every %s  %s  %s", &o.interval, c.Target, strings.Join(o.args, " "))}
		// The alternate screen: leaving it restores the previous content.
		io.WriteString(s.screen, "\x1b[?1049h\x1b[?25l")
		defer io.WriteString(s.screen, "\x1b[?25h\x1b[?1049l")
		show = screen.draw
	}
	return o.repeat(ctx, s, c, show)
}

// repeat runs the command until the context ends, or --limit times.
func (o *watchOptions) repeat(ctx context.Context, s *streams, c *targets.Conn, show func([]byte) error) error {
	args := command(o.args)
	var format formatOptions
	if o.json {
		format.output = formatJSON
	}
	printer := format.printer(s)
	for n := int64(1); ; n++ {
		v, err := c.Do(ctx, args...)
		if err != nil {
			return ignoreStop(ctx, err)
		}
		if err := show(printer.append(nil, args, v)); err != nil {
			return err
		}
		if n == 1 && !s.outTerminal {
			suggest(s.err, args, v)
			hintMisplacedFlag(s.err, o.target.Flags, args, v)
		}
		if n == o.limit {
			if v.HasError() {
				return exit.ErrReported
			}
			return nil
		}
		if err := pause(ctx, time.Duration(o.interval)); err != nil {
			return ignoreStop(ctx, err)
		}
	}
}

func writeReply(w io.Writer, reply []byte) error {
	_, err := w.Write(reply)
	return err
}

// watchScreen draws replies on the whole terminal.
type watchScreen struct {
	*streams
	title string
	last  []string // the lines of the previous reply; nil at first
}

func (w *watchScreen) draw(reply []byte) error {
	columns, rows := w.room()
	lines := strings.Split(strings.TrimRight(string(reply), "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = onScreen(strings.TrimRight(line, "\r"))
	}
	var b strings.Builder
	now := time.Now().Format("15:04:05")
	b.WriteString("\x1b[H" + display.Fit(display.Text(w.title, columns), max(columns-len(now)-1, 0)) + " " + now + "\x1b[K\r\n\x1b[K")
	for i, line := range lines {
		if i+2 >= rows {
			break
		}
		before := line
		if w.last != nil {
			before = ""
			if i < len(w.last) {
				before = w.last[i]
			}
		}
		b.WriteString("\r\n" + display.Truncate(marked(before, line), columns) + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	w.last = lines
	_, err := io.WriteString(w.screen, b.String())
	return err
}

// onScreen returns a line without colours, which the marks would interrupt, and without control characters.
func onScreen(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return '?'
		}
		return r
	}, strings.ToValidUTF8(ansi.Strip(line), "?"))
}

// marked returns a line with the changed part in reverse video.
func marked(before, line string) string {
	if before == line {
		return line
	}
	old, now := []rune(before), []rune(line)
	head, tail := 0, 0
	for head < min(len(old), len(now)) && old[head] == now[head] {
		head++
	}
	for tail < min(len(old), len(now))-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	end := len(now) - tail
	if head == end {
		return line
	}
	return string(now[:head]) + "\x1b[7m" + string(now[head:end]) + "\x1b[27m" + string(now[end:])
}
