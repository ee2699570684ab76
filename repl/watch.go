package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

const watchEvery = time.Second

// runWatch runs a command each second and shows the latest reply on the alternate screen,
// until Ctrl-C.
func runWatch(ctx context.Context, l *loop, c command, out *output) error {
	if len(c.words) < 2 {
		return colonNamed(":watch").usage()
	}
	if !l.Terminal || c.op != "" {
		return errors.New(":watch needs a terminal to show the replies on")
	}
	args := c.args()[1:]
	if opensStream(args) || strings.HasPrefix(c.words[1].value, ":") {
		return errors.New(":watch takes a command that answers")
	}
	if !l.confirmed(ctx, args) {
		return nil
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	io.WriteString(l.Out, "\x1b[?1049h\x1b[?25l")
	defer io.WriteString(l.Out, "\x1b[?1049l\x1b[?25h")
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	l.frame(quoteCall(args)+"  (Ctrl-C ends)", "waiting for the reply …")
	for {
		v, took, err := l.do(ctx, args)
		if ctx.Err() != nil {
			return nil
		}
		body := ""
		if err != nil {
			body = visible(err.Error())
		} else {
			body = string(l.Format(nil, args, v))
		}
		head := fmt.Sprintf("%s  %s  (%s, Ctrl-C ends)", time.Now().Format(time.TimeOnly), quoteCall(args), duration(took))
		l.frame(head, body)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// frame fills the screen with as much of body as fits.
func (l *loop) frame(head, body string) {
	columns, rows := terminalSize()
	lines := append([]string{l.coloured(dim, ansi.Truncate(head, columns, "…")), ""}, strings.Split(strings.TrimRight(body, "\n"), "\n")...)
	if len(lines) > rows {
		lines = append(lines[:rows-1], l.coloured(dim, fmt.Sprintf("… %d more lines", len(lines)-rows+1)))
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(ansi.Truncate(line, columns, "…") + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	io.WriteString(l.Out, b.String())
}
