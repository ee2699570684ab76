package cmd

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/decode"
	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/keytype"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/survey"
)

// peekOptions are the flags and arguments of peek.
type peekOptions struct {
	target targetOptions
	json   bool
	limit  int
	key    string
}

func newPeek(s *streams) *cobra.Command {
	o := &peekOptions{}
	cmd := &cobra.Command{
		Use:     "peek [FLAGS] KEY",
		GroupID: groupLook,
		Short:   "Show what a key is, and the beginning of its value",
		Long: `Shows the type of a key, its time to live and its size, and its first elements or
the beginning of its value. However large the key is, no more of its
values is read. Bytes are those that "meowdis help stats" tells of.

` + targetHelp,
		Example: `  meowdis peek cat:1
  meowdis peek --limit 3 --json queue`,
		ValidArgsFunction: o.target.completeKey(s),
		Args:              usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.key = args[0]; o.limit < 0 {
				return usagef("--limit %d: there cannot be fewer than none", o.limit)
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.limit, "limit", 10, "show no more than `NUMBER` elements")
	f.BoolVar(&o.json, "json", false, "print JSON")
	o.target.addLookFlags(cmd)
	return cmd
}

func (o *peekOptions) run(ctx context.Context, s *streams) error {
	return o.target.look(ctx, s, lookOnly, func(c *connection) error {
		key, err := c.walk(survey.Measured).Describe(ctx, []byte(o.key))
		if errors.Is(err, survey.ErrMissing) {
			return survey.Refusal("there is no key " + display.Whole(o.key))
		}
		if err != nil {
			return err
		}
		first, err := survey.First(ctx, c, key, o.limit)
		if err != nil {
			return err
		}
		if o.json {
			_, err = s.out.Write(append(resp.AppendJSON(nil, peekJSON(key, first, c.measure())), '\n'))
			return err
		}
		columns, _ := s.room()
		_, err = s.out.Write([]byte(peekText(key, first, c.measure(), columns)))
		return err
	})
}

func peekJSON(key survey.Key, first [][][]byte, measure survey.Measure) resp.Value {
	v := key.JSON()
	if key.Bytes >= 0 {
		v.Elems = append(v.Elems, resp.MakeString("measure"), resp.MakeString(string(measure)))
	}
	parts := keytype.Of(key.Type).Parts
	if parts == nil {
		if len(first) > 0 {
			v.Elems = append(v.Elems, resp.MakeString("value"), resp.MakeBulk(first[0][0]))
		}
		return v
	}
	var elements []resp.Value
	for _, e := range first {
		elements = append(elements, elementJSON(parts, e))
	}
	v.Elems = append(v.Elems, resp.MakeString("elements"), resp.MakeArray(elements...))
	return v
}

func peekText(key survey.Key, first [][][]byte, measure survey.Measure, width int) string {
	var b strings.Builder
	fact := func(name, text string) { b.WriteString(display.Fit(name, 6) + text + "\n") }
	fact("key", display.Whole(string(key.Name)))
	fact("type", display.Type(key.Type))
	if key.TTL >= 0 {
		fact("ttl", display.Remaining(key.TTL))
	} else {
		fact("ttl", "none")
	}
	if key.Count >= 0 {
		fact("size", display.Counted(key.Count, keytype.Of(key.Type).One, keytype.Of(key.Type).Many))
	}
	switch {
	case key.Bytes >= 0 && measure == survey.Tables:
		fact("bytes", display.Grouped(key.Bytes)+" of name and value")
	case key.Bytes >= 0:
		fact("bytes", "about "+display.Grouped(key.Bytes)+", by MEMORY USAGE")
	}
	switch {
	case len(first) == 0:
	case keytype.Of(key.Type).Parts == nil:
		b.WriteString("\n" + peekString(key, first[0][0], width))
	default:
		b.WriteString("\n" + peekElements(key, first, width))
	}
	return b.String()
}

// maxValueLines is how many lines of a value are shown.
const maxValueLines = 40

// peekString shows the beginning of a value as what it is recognised to be.
func peekString(key survey.Key, beginning []byte, width int) string {
	var b strings.Builder
	shown := decode.Value(beginning, decode.Options{Partial: key.Count > int64(len(beginning))})
	if !shown.IsPlain() {
		b.WriteString(shown.Chain() + "\n")
	}
	lines := strings.Split(shown.Text, "\n")
	for _, line := range lines[:min(len(lines), maxValueLines)] {
		b.WriteString(display.Truncate(line, width) + "\n")
	}
	switch more := len(lines) - maxValueLines; {
	case more > 0:
		b.WriteString("… and " + display.Counted(int64(more), "line more", "lines more") + "\n")
	case key.Count > int64(len(beginning)):
		b.WriteString("… and " + display.Counted(key.Count-int64(len(beginning)), "byte more", "bytes more") + "\n")
	}
	if shown.Note != "" {
		b.WriteString(shown.Note + "\n")
	}
	return b.String()
}

// peekElements lays elements out: names in a column, and values in what is left
// of the line.
func peekElements(key survey.Key, first [][][]byte, width int) string {
	var b strings.Builder
	names := 0
	for _, e := range first {
		names = max(names, ansi.StringWidth(display.Text(string(e[0]), width/2)))
	}
	for _, e := range first {
		line := inALine(e[0], width)
		if len(e) > 1 {
			line = display.Fit(display.Text(string(e[0]), width/2), names) + " "
		}
		for _, part := range e[1:] {
			line += " " + inALine(part, width)
		}
		b.WriteString(display.Truncate(line, width) + "\n")
	}
	if more := key.Count - int64(len(first)); more > 0 {
		b.WriteString("… and " + display.Grouped(more) + " more\n")
	}
	return b.String()
}

// inALine shows an element's value: text as it is, and what is packed or binary
// as what was found in it.
func inALine(part []byte, width int) string {
	shown := decode.Value(part, decode.Options{DumpBytes: 16})
	if len(shown.Layers) == 1 && utf8.Valid(part) {
		return display.Text(string(part), width)
	}
	return "(" + shown.Chain() + ") " + display.Truncate(strings.Join(strings.Fields(shown.Text), " "), width)
}
