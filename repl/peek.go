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
	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/resp"
)

const (
	peekBytes    = 64 << 10 // of a string
	peekElements = 10
	peekLines    = 30 // of one decoded value
)

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
	count, err := l.peekHead(ctx, &b, key, name)
	if err != nil {
		return err
	}
	if t := keytype.Of(name); t.Known() {
		n := peekElements
		if t.Parts == nil {
			n = peekBytes
		}
		v, err := l.reply(ctx, t.PageAt([]byte(key), "", n))
		if err != nil {
			return err
		}
		elements, _, err := t.Elements(v, "", n)
		if err != nil {
			return err
		}
		l.peekBody(&b, t, elements, count)
	}
	return out.text(b.String())
}

// asks runs a command whose error is an error.
func (l *loop) asks(ctx context.Context, words ...string) (resp.Value, error) {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return l.reply(ctx, args)
}

func (l *loop) reply(ctx context.Context, args [][]byte) (resp.Value, error) {
	v, _, err := l.do(ctx, args)
	if err == nil && v.IsError() {
		err = errors.New(string(v.Str))
	}
	return resp.Downgrade(v), err
}

// peekHead writes the line about a key, and returns how many elements or bytes it has. What
// the target does not tell is left out.
func (l *loop) peekHead(ctx context.Context, b *strings.Builder, key, kind string) (count int64, err error) {
	facts := []string{display.Type(kind)}
	if t := keytype.Of(kind); t.Count != "" {
		n, err := l.asks(ctx, t.Count, key)
		if err != nil {
			return 0, err
		}
		unit := t.Many
		if n.Int == 1 {
			unit = t.One
		}
		count = n.Int
		facts = append(facts, fmt.Sprintf("%d %s", count, unit))
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
	return count, nil
}

func (l *loop) peekBody(b *strings.Builder, t *keytype.Type, elements [][][]byte, count int64) {
	if t.Parts == nil {
		s := decode.Value(elements[0][0], decode.Options{Partial: len(elements[0][0]) >= peekBytes})
		if !s.IsPlain() {
			b.WriteString(l.coloured(dim, s.Chain()) + "\n")
		}
		b.WriteString(firstLines(s.Text, peekLines) + "\n")
		if s.Note != "" {
			b.WriteString(l.coloured(dim, s.Note) + "\n")
		}
		return
	}
	elements = elements[:min(len(elements), peekElements)]
	for _, parts := range elements {
		switch {
		case t.Form == keytype.Entries:
			fmt.Fprintf(b, "  %s", oneLine(parts[0]))
			for i := 1; i+1 < len(parts); i += 2 {
				fmt.Fprintf(b, "  %s: %s", oneLine(parts[i]), l.short(parts[i+1]))
			}
			b.WriteByte('\n')
		case len(parts) == 1:
			fmt.Fprintf(b, "  %s\n", l.short(parts[0]))
		default:
			fmt.Fprintf(b, "  %s: %s\n", oneLine(parts[0]), l.short(parts[1]))
		}
	}
	if int64(len(elements)) < count {
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
