package cmd

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/internal/spelling"
	"github.com/meowdis/meowdis/keyspace/records"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
)

// The output formats.
const (
	formatTyped  = "typed"
	formatRaw    = "raw"
	formatCSV    = "csv"
	formatJSON   = "json"
	formatNDJSON = "ndjson"
	formatTable  = "table"
)

var formats = []string{formatTyped, formatRaw, formatCSV, formatJSON, formatNDJSON, formatTable}

// formatOptions holds the flags that choose an output format.
type formatOptions struct {
	output                 string
	json, csv, raw, noRaw  bool // shorthands of output
	header, quoted, escape bool
	color                  string
	resp2, resp3           bool
	between, after         string
	hasBetween, hasAfter   bool
}

func (o *formatOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "print replies as `FORMAT`: "+strings.Join(formats, ", "))
	f.BoolVar(&o.json, "json", false, "print one JSON value per reply (-o json)")
	f.BoolVar(&o.csv, "csv", false, "print one line of CSV per record (-o csv)")
	f.BoolVar(&o.raw, "raw", false, "print bytes unchanged (-o raw, the default into a pipe)")
	f.BoolVar(&o.noRaw, "no-raw", false, "print values with their types (-o typed, the default on a terminal)")
	f.BoolVar(&o.header, "header", false, "print the column names first, in CSV")
	f.BoolVar(&o.quoted, "quoted", false, "quote strings in raw output, too, so that each is one line")
	f.BoolVar(&o.escape, "escape", false, `show bytes beyond ASCII as \xhh; in CSV, quote as redis-cli does`)
	f.StringVar(&o.color, "color", "auto", "colour replies on a terminal: `auto|always|never`")
	f.StringVarP(&o.between, "separator", "d", "", "`TEXT` between the elements of an array, in raw output (default \\n)")
	f.StringVarP(&o.after, "end", "D", "", "`TEXT` after each reply, in raw output (default \\n)")
	f.BoolVarP(&o.resp2, "resp2", "2", false, "print maps, sets and doubles as arrays and strings (the default for typed and raw)")
	f.BoolVarP(&o.resp3, "resp3", "3", false, "print maps, sets and doubles with their types, if the target has RESP3")
	cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	flags.InTopic(f, "formats", "csv", "raw", "no-raw", "header", "quoted", "escape", "color", "separator", "end", "resp2", "resp3")
	flags.Alias(f, "delimiter", "separator")
	cmd.RegisterFlagCompletionFunc("separator", cobra.NoFileCompletions)
	cmd.RegisterFlagCompletionFunc("end", cobra.NoFileCompletions)
}

// check refuses contradicting or invalid flags, and notes whether the delimiters were given.
func (o *formatOptions) check(cmd *cobra.Command) error {
	o.hasBetween, o.hasAfter = cmd.Flags().Changed("separator"), cmd.Flags().Changed("end")
	if err := flags.Exclusive(cmd, "output", "json", "csv", "raw", "no-raw"); err != nil {
		return err
	}
	switch {
	case o.json:
		o.output = formatJSON
	case o.csv:
		o.output = formatCSV
	case o.raw:
		o.output = formatRaw
	case o.noRaw:
		o.output = formatTyped
	}
	if o.output != "" && !slices.Contains(formats, o.output) {
		return exit.Usagef("unknown format %q.%s The formats are %s", o.output, spelling.Question(spelling.Nearest(o.output, formats)), strings.Join(formats, ", "))
	}
	if !slices.Contains([]string{"auto", "always", "never"}, o.color) {
		return exit.Usagef("--color %s: give auto, always or never", o.color)
	}
	return flags.Exclusive(cmd, "resp2", "resp3")
}

// format returns the chosen format, or the default for a terminal or a pipe.
func (o *formatOptions) format(s *streams) string {
	switch {
	case o.output != "":
		return o.output
	case s.outTerminal:
		return formatTyped
	}
	return formatRaw
}

// colour reports whether to colour replies: --color decides first, then the environment.
func (o *formatOptions) colour(s *streams) bool {
	if o.color == "auto" || o.color == "" {
		return s.colour()
	}
	return o.color == "always"
}

// printer returns a printer of replies to s.
func (o *formatOptions) printer(s *streams) printer {
	p := printer{form: o.format(s), header: o.header, notes: s.err, shapes: &records.Replies{}}
	p.values = resp.Printer{Escape: o.escape, Quoted: o.quoted, RESP3: o.wantsRESP3(), Colour: o.colour(s)}
	switch p.form {
	case formatJSON, formatNDJSON:
		p.values.Format = resp.JSON
	case formatCSV:
		p.values.Format = resp.CSV
	case formatRaw:
		p.values.Format = resp.Raw
	}
	if o.hasBetween {
		p.values.Between = unescape(o.between)
	}
	if o.hasAfter {
		p.values.After = unescape(o.after)
	}
	if s.outTerminal {
		p.width, _ = s.room()
		p.values.Visible = true
	}
	return p
}

// unescape replaces escapes such as "\t" in a delimiter.
func unescape(s string) *string {
	s = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\0`, "\x00").Replace(s)
	return &s
}

// wantsRESP3 reports whether replies should have RESP3's types. JSON, CSV and tables use them unless -2 is given.
func (o *formatOptions) wantsRESP3() bool {
	switch o.output {
	case formatJSON, formatNDJSON, formatCSV, formatTable:
		return !o.resp2
	}
	return o.resp3
}

// printer prints replies in one form.
type printer struct {
	form   string
	values resp.Printer // for replies without records
	header bool
	width  int       // of a table; 0 has no limit
	notes  io.Writer // receives text that does not fit between records
	shapes *records.Replies
}

// append appends the reply to args. On a terminal only the colours of the typed format act.
func (p printer) append(out []byte, args [][]byte, v resp.Value) []byte {
	if isReport(args) && !v.IsError() && (p.form == formatTyped || p.form == formatTable) {
		p.values.Format = resp.Raw
		return p.values.Append(out, v)
	}
	if p.values.RESP3 {
		v = p.shapes.RESP3(args, v)
	}
	switch p.form {
	case formatCSV, formatNDJSON, formatTable:
		if t, ok := records.Of(args, v); ok {
			return p.appendRecords(out, t, v)
		}
	}
	return p.values.Append(out, v)
}

// write writes the reply to args. It formats a table line by line, so that a long one is not held in memory twice.
func (p printer) write(w io.Writer, args [][]byte, v resp.Value) error {
	if p.form == formatTable && !isReport(args) {
		v = v.Unpacked()
		if p.values.RESP3 {
			v = p.shapes.RESP3(args, v)
		}
		if t, ok := records.Of(args, v); ok {
			return p.writeTable(w, t)
		}
		_, err := w.Write(p.values.Append(nil, v))
		return err
	}
	if v.Packed != nil && (p.form == formatRaw || p.form == formatTyped || p.form == formatJSON) {
		return p.values.Write(w, v)
	}
	_, err := w.Write(p.append(nil, args, v.Unpacked()))
	return err
}

func (p printer) writeTable(w io.Writer, t records.Table) error {
	return t.WriteTable(escapingWriter{w, p.values}, p.values.Escape, p.width)
}

// escapingWriter escapes control characters before it writes. Each Write must hold whole characters.
type escapingWriter struct {
	io.Writer
	values resp.Printer
}

func (s escapingWriter) Write(text []byte) (int, error) {
	if _, err := s.Writer.Write(s.values.Shown(nil, text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// appendRecords appends the records t of the reply v. A list without a header is one line of CSV, as in redis-cli.
func (p printer) appendRecords(out []byte, t records.Table, v resp.Value) []byte {
	if p.form == formatTable {
		b := bytes.NewBuffer(out)
		p.writeTable(b, t) // a buffer cannot fail
		return b.Bytes()
	}
	if t.Cursor != "" {
		fmt.Fprintf(p.notes, "meowdis: more records follow; the next cursor is %s\n", t.Cursor)
	}
	switch {
	case p.form == formatNDJSON:
		return t.AppendNDJSON(out)
	case t.List && !t.Scan && !p.header:
		return p.values.Append(out, v)
	}
	return p.values.Shown(out, t.AppendCSV(nil, p.header, p.values.Escape))
}

// isReport reports whether the reply to args is a text for people. It is printed unchanged in every format.
func isReport(args [][]byte) bool { return commands.Known(args).Has(commands.Report) }
