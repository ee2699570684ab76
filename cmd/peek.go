package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/display"
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
the beginning of its value. It reads no more than it shows, however large the
key is.

` + targetHelp,
		Example: `  meowdis peek cat:1
  meowdis peek --limit 3 --json queue`,
		DisableFlagsInUseLine: true,
		Args:                  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.key = args[0]; o.limit < 0 {
				return usagef("--limit %d: there cannot be fewer than none", o.limit)
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.limit, "limit", 10, "show no more than `NUMBER` elements")
	f.BoolVar(&o.json, "json", false, "print JSON")
	o.target.addLookFlags(cmd)
	return cmd
}

func (o *peekOptions) run(ctx context.Context, s *streams) error {
	return o.target.look(ctx, s, func(c *connection) error {
		key, err := survey.Describe(ctx, c, []byte(o.key))
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
			_, err = s.out.Write(append(resp.AppendJSON(nil, peekJSON(key, first)), '\n'))
			return err
		}
		columns, _ := s.size()
		_, err = s.out.Write([]byte(peekText(key, first, columns)))
		return err
	})
}

func peekJSON(key survey.Key, first [][][]byte) resp.Value {
	v := key.JSON()
	parts := survey.Parts(key.Type)
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

func peekText(key survey.Key, first [][][]byte, width int) string {
	var b strings.Builder
	fact := func(name, text string) { b.WriteString(display.Fit(name, 6) + text + "\n") }
	fact("key", display.Whole(string(key.Name)))
	fact("type", key.Type)
	if key.TTL >= 0 {
		fact("ttl", display.Remaining(key.TTL))
	} else {
		fact("ttl", "none")
	}
	if key.Count >= 0 {
		fact("size", display.Counted(key.Count, survey.Unit(key.Type, 1), survey.Unit(key.Type, 2)))
	}
	if key.Bytes >= 0 {
		fact("bytes", "about "+display.Grouped(key.Bytes))
	}
	if len(first) > 0 {
		b.WriteString("\n" + peekValue(key, first, width))
	}
	return b.String()
}

// peekValue lays the beginning of a value out: names in a column, and values in
// what is left of the line.
func peekValue(key survey.Key, first [][][]byte, width int) string {
	var b strings.Builder
	if survey.Parts(key.Type) == nil {
		text := string(first[0][0])
		b.WriteString(display.Text(text, 10*width) + "\n")
		if more := key.Count - int64(len(text)); more > 0 {
			b.WriteString("… and " + display.Counted(more, "byte more", "bytes more") + "\n")
		}
		return b.String()
	}
	names := 0
	for _, e := range first {
		names = max(names, len([]rune(display.Text(string(e[0]), width/2))))
	}
	for _, e := range first {
		rest := make([]string, 0, len(e)-1)
		for _, part := range e[1:] {
			rest = append(rest, display.Text(string(part), width))
		}
		line := display.Text(string(e[0]), width)
		if len(rest) > 0 {
			line = display.Fit(display.Text(string(e[0]), width/2), names) + "  " + strings.Join(rest, " ")
		}
		b.WriteString(display.Truncate(line, width) + "\n")
	}
	if more := key.Count - int64(len(first)); more > 0 {
		b.WriteString("… and " + display.Grouped(more) + " more\n")
	}
	return b.String()
}
