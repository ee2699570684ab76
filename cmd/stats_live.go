package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// checkLive refuses flags that do not apply to stats --live.
func (o *statsOptions) checkLive(changed func(flag string) bool) error {
	for _, flag := range []string{"separator", "depth", "top", "samples"} {
		if changed(flag) {
			return exit.Usagef("--%s is for keys, and --live reads no keys", flag)
		}
	}
	switch {
	case o.match != "":
		return exit.Usagef("--live takes no pattern: it counts all keys")
	case time.Duration(o.interval) < 10*time.Millisecond:
		return exit.Usagef("-i %s: give at least 0.01 seconds", &o.interval)
	}
	return nil
}

// runLive shows the figures of the target until Ctrl-C or --limit. A failure of the first sample is an error; a later
// one is shown, and the next sample follows.
func (o *statsOptions) runLive(ctx context.Context, s *streams) error {
	ctx, stop := exit.UntilInterrupted(ctx)
	defer stop()
	return withTarget(ctx, s, &o.target, readOnly, func(c *targets.Conn) (err error) {
		l := &live{}
		show, end := o.liveLines(s, l), func() error { return nil }
		if s.outTerminal && !o.json && s.getenv("TERM") != "dumb" {
			show, end = o.liveScreen(s, c, l)
			defer func() { err = errors.Join(err, end()) }()
		}
		for n := int64(1); ; n++ {
			sample, err := sampleOf(ctx, c)
			if err != nil && (n == 1 || ctx.Err() != nil) {
				return ignoreStop(ctx, err)
			}
			if l.problem = ""; err != nil {
				l.problem = err.Error()
			} else {
				l.add(sample)
			}
			if err := show(); err != nil || n == o.limit {
				return err
			}
			if err := pause(ctx, time.Duration(o.interval)); err != nil {
				return ignoreStop(ctx, err)
			}
		}
	})
}

// sampleOf reads the figures of the target with INFO, or with DBSIZE if INFO is refused.
func sampleOf(ctx context.Context, c *targets.Conn) (*liveSample, error) {
	v, err := c.Do(ctx, []byte("INFO"))
	if err != nil {
		return nil, err
	}
	sample := &liveSample{at: time.Now(), keys: -1, file: -1, facts: map[string]string{}}
	if v.IsError() {
		sample.refusal = string(v.Str)
		if v, err = c.Do(ctx, []byte("DBSIZE")); err != nil {
			return nil, err
		}
		if v.IsError() {
			return nil, keyspace.Refusal(v.Str)
		}
		sample.keys = v.Int
	} else {
		sample.take(targets.InfoFacts(v))
	}
	if c.File != nil {
		if info, err := os.Stat(c.Target.Path); err == nil { // missing for :memory:
			sample.file, sample.log = info.Size(), logBytes(c.Target.Path)
		}
	}
	return sample, nil
}

// liveLines prints the figures as lines, with a heading every twenty lines.
func (o *statsOptions) liveLines(s *streams, l *live) func() error {
	const page = 20
	lines := 0
	return func() error {
		switch {
		case l.problem != "":
			fmt.Fprintf(s.err, "meowdis: %s\n", l.problem)
			return nil
		case o.json:
			_, err := s.out.Write(append(resp.AppendJSON(nil, l.json()), '\n'))
			return err
		}
		figures := l.figures()
		text := ""
		if lines%page == 0 {
			text = lineOf("time", figures, func(f figure) string { return f.name })
		}
		lines++
		text += lineOf(l.now.at.Format(time.TimeOnly), figures, func(f figure) string { return f.value })
		_, err := io.WriteString(s.out, text)
		return err
	}
}

// lineOf formats one cell of each figure.
func lineOf(first string, figures []figure, cell func(figure) string) string {
	const width = 10
	line := display.Fit(first, len(time.TimeOnly))
	for _, f := range figures {
		line += " " + display.FitRight(cell(f), max(width, len(f.name)))
	}
	return strings.TrimRight(line, " ") + "\n"
}

// liveScreen draws the figures on the alternate screen. end leaves it and prints the figures once more.
func (o *statsOptions) liveScreen(s *streams, c *targets.Conn, l *live) (show, end func() error) {
	io.WriteString(s.screen, "\x1b[?1049h\x1b[?25l")
	show = func() error {
		columns, rows := s.room()
		title := fmt.Sprintf("%s  every %s, Ctrl-C ends", c.Target, &o.interval)
		lines := append([]string{titleLine(title, time.Now().Format(time.TimeOnly), columns), ""}, l.draw(columns)...)
		if rows > 0 {
			lines = lines[:min(len(lines), rows)]
		}
		_, err := io.WriteString(s.screen, "\x1b[H"+strings.Join(lines, "\x1b[K\r\n")+"\x1b[K\x1b[J")
		return err
	}
	return show, func() error {
		io.WriteString(s.screen, "\x1b[?25h\x1b[?1049l")
		if l.now == nil {
			return nil
		}
		columns, _ := s.room()
		_, err := io.WriteString(s.screen, strings.Join(l.draw(columns), "\n")+"\n")
		return err
	}
}

// titleLine formats a title with the time at the end of the line.
func titleLine(title, now string, columns int) string {
	return display.Fit(display.Text(title, columns), max(columns-len(now)-1, 0)) + " " + now
}
