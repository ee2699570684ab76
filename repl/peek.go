package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/meowdis/meowdis/decode"
	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/resp"
)

const (
	peekBytes    = 64 << 10 // of a string
	peekElements = 10
	peekLines    = 30 // of one decoded value
)

// peeked says how the first elements of a type are fetched.
type peeked struct {
	count string
	unit  [2]string // one, and more
	fetch func(key string) []string
	step  int // values an element
}

var peeks = map[string]peeked{
	"string": {"STRLEN", [2]string{"byte", "bytes"}, func(key string) []string { return []string{"GETRANGE", key, "0", fmt.Sprint(peekBytes - 1)} }, 1},
	"hash": {"HLEN", [2]string{"field", "fields"}, func(key string) []string {
		return []string{"HSCAN", key, "0", "COUNT", fmt.Sprint(peekElements)}
	}, 2},
	"set": {"SCARD", [2]string{"member", "members"}, func(key string) []string {
		return []string{"SSCAN", key, "0", "COUNT", fmt.Sprint(peekElements)}
	}, 1},
	"zset": {"ZCARD", [2]string{"member", "members"}, func(key string) []string {
		return []string{"ZRANGE", key, "0", fmt.Sprint(peekElements - 1), "WITHSCORES"}
	}, 2},
	"list": {"LLEN", [2]string{"element", "elements"}, func(key string) []string { return []string{"LRANGE", key, "0", fmt.Sprint(peekElements - 1)} }, 1},
	"stream": {"XLEN", [2]string{"entry", "entries"}, func(key string) []string {
		return []string{"XREVRANGE", key, "+", "-", "COUNT", fmt.Sprint(peekElements)}
	}, 1},
	"ReJSON-RL": {"", [2]string{}, func(key string) []string { return []string{"JSON.GET", key} }, 1},
}

// runPeek shows a key.
func runPeek(ctx context.Context, l *loop, c command, out *output) error {
	key, err := only(c)
	if err != nil {
		return err
	}
	if l.multi {
		return errors.New("nothing can be looked at inside of MULTI")
	}
	kind, err := l.asks(ctx, "TYPE", key)
	if err != nil {
		return err
	}
	name := string(kind.Str)
	if name == "none" {
		return fmt.Errorf("there is no key %s", writtenWord([]byte(key), false))
	}
	var b strings.Builder
	if err := l.peekHead(ctx, &b, key, name); err != nil {
		return err
	}
	if p, known := peeks[name]; known {
		v, err := l.asks(ctx, p.fetch(key)...)
		if err != nil {
			return err
		}
		l.peekBody(&b, name, p, v)
	}
	return out.text(b.String())
}

// asks runs a command whose error is an error.
func (l *loop) asks(ctx context.Context, words ...string) (resp.Value, error) {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	v, _, err := l.do(ctx, args)
	if err == nil && v.IsError() {
		err = errors.New(string(v.Str))
	}
	return resp.Downgrade(v), err
}

// peekHead is the line about a key. What the target does not tell is left out.
func (l *loop) peekHead(ctx context.Context, b *strings.Builder, key, kind string) error {
	facts := []string{display.Type(kind)}
	if p := peeks[kind]; p.count != "" {
		n, err := l.asks(ctx, p.count, key)
		if err != nil {
			return err
		}
		unit := p.unit[1]
		if n.Int == 1 {
			unit = p.unit[0]
		}
		facts = append(facts, fmt.Sprintf("%d %s", n.Int, unit))
	}
	if v, err := l.asks(ctx, "PTTL", key); err == nil {
		switch {
		case v.Int == -1:
			facts = append(facts, "no expiry")
		case v.Int >= 0:
			facts = append(facts, "expires in "+(time.Duration(v.Int)*time.Millisecond).Round(100*time.Millisecond).String())
		}
	}
	if v, err := l.asks(ctx, "OBJECT", "ENCODING", key); err == nil && len(v.Str) > 0 {
		facts = append(facts, visible(string(v.Str)))
	}
	if v, err := l.asks(ctx, "MEMORY", "USAGE", key); err == nil && v.Kind == resp.Int {
		facts = append(facts, display.Bytes(v.Int)+" by MEMORY USAGE")
	}
	fmt.Fprintf(b, "%s  %s\n", l.coloured(styles[kindKey], writtenWord([]byte(key), false)), l.coloured(dim, strings.Join(facts, ", ")))
	return nil
}

func (l *loop) peekBody(b *strings.Builder, kind string, p peeked, v resp.Value) {
	switch kind {
	case "string", "ReJSON-RL":
		s := decode.Value(v.Str, decode.Options{Partial: len(v.Str) >= peekBytes})
		if !s.IsPlain() {
			b.WriteString(l.coloured(dim, s.Chain()) + "\n")
		}
		b.WriteString(firstLines(s.Text, peekLines) + "\n")
		if s.Note != "" {
			b.WriteString(l.coloured(dim, s.Note) + "\n")
		}
		return
	case "stream":
		for _, entry := range v.Elems {
			if len(entry.Elems) == 2 {
				fmt.Fprintf(b, "  %s", oneLine(entry.Elems[0].Str))
				for i := 0; i+1 < len(entry.Elems[1].Elems); i += 2 {
					fmt.Fprintf(b, "  %s: %s", oneLine(entry.Elems[1].Elems[i].Str), l.short(entry.Elems[1].Elems[i+1].Str))
				}
				b.WriteByte('\n')
			}
		}
		return
	}
	elems := v.Elems
	if len(elems) == 2 && elems[1].Kind == resp.Array { // a page of a scan
		elems = elems[1].Elems
	}
	for i := 0; i+p.step <= min(len(elems), peekElements*p.step); i += p.step {
		if p.step == 2 {
			fmt.Fprintf(b, "  %s: %s\n", oneLine(elems[i].Str), l.short(elems[i+1].Str))
		} else {
			fmt.Fprintf(b, "  %s\n", l.short(elems[i].Str))
		}
	}
	if len(elems) > peekElements*p.step {
		b.WriteString("  …\n")
	}
}

// short is a value on one line, with the layers it was found in.
func (l *loop) short(value []byte) string {
	s := decode.Value(value, decode.Options{DumpBytes: 16})
	if s.IsPlain() {
		return oneLine(value)
	}
	text := strings.Join(strings.Fields(s.Text), " ")
	if s.Note != "" {
		text += "  " + l.coloured(dim, s.Note)
		return text
	}
	if s.Layers[len(s.Layers)-1].Name == "binary" {
		text = oneLine(value)
	}
	return l.coloured(dim, "("+s.Chain()+") ") + ansi.Truncate(text, peekWidth, "…")
}

const peekWidth = 200

func oneLine(value []byte) string {
	text := string(resp.AppendQuoted(nil, value[:min(len(value), 4*peekWidth)], true))
	return ansi.Truncate(text[1:len(text)-1], peekWidth, "…")
}

func firstLines(text string, most int) string {
	lines := strings.SplitN(text, "\n", most+1)
	if len(lines) > most {
		lines[most] = fmt.Sprintf("… %d more lines", strings.Count(lines[most], "\n")+1)
	}
	return strings.Join(lines, "\n")
}
