package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/resp"
)

// formatOptions are the flags that choose how replies are printed.
type formatOptions struct {
	json, csv, raw, noRaw bool
	escape                bool
	resp2, resp3          bool
	between, after        string
	hasBetween, hasAfter  bool
}

func (o *formatOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.json, "json", false, "print JSON, one value a reply")
	f.BoolVar(&o.csv, "csv", false, "print CSV, one line a reply")
	f.BoolVar(&o.raw, "raw", false, "print bytes as they are (the default into a pipe)")
	f.BoolVar(&o.noRaw, "no-raw", false, "print values with their types (the default on a terminal)")
	f.BoolVar(&o.escape, "escape", false, `show bytes beyond ASCII as \xhh`)
	f.StringVarP(&o.between, "delimiter", "d", `\n`, "`TEXT` between the elements of an array, when raw")
	f.StringVarP(&o.after, "end", "D", `\n`, "`TEXT` behind each reply, when raw")
	f.BoolVarP(&o.resp2, "resp2", "2", false, "print maps, sets and doubles as arrays and strings (the default but for --json)")
	f.BoolVarP(&o.resp3, "resp3", "3", false, "print maps, sets and doubles as such, where the target has them")
}

// check refuses flags that contradict each other, and takes note of those whose
// absence means something.
func (o *formatOptions) check(cmd *cobra.Command) error {
	o.hasBetween, o.hasAfter = cmd.Flags().Changed("delimiter"), cmd.Flags().Changed("end")
	if err := exclusive(cmd, "json", "csv", "raw", "no-raw"); err != nil {
		return err
	}
	return exclusive(cmd, "resp2", "resp3")
}

// printer is how replies are printed on a terminal, or elsewhere.
func (o *formatOptions) printer(terminal bool) resp.Printer {
	p := resp.Printer{Escape: o.escape, RESP3: o.wantsRESP3()}
	switch {
	case o.json:
		p.Format = resp.JSON
	case o.csv:
		p.Format = resp.CSV
	case o.raw || !terminal && !o.noRaw:
		p.Format = resp.Raw
	}
	if o.hasBetween {
		p.Between = unescape(o.between)
	}
	if o.hasAfter {
		p.After = unescape(o.after)
	}
	return p
}

// unescape reads the escapes of a delimiter, as in "\t".
func unescape(s string) *string {
	s = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\0`, "\x00").Replace(s)
	return &s
}

func (o *formatOptions) wantsRESP3() bool { return o.resp3 || o.json && !o.resp2 }

// isReport tells whether the reply to args is a text for people, which is
// printed as it is even where values are printed with their types.
func isReport(args [][]byte) bool {
	word := func(i int) string {
		if i < len(args) {
			return strings.ToUpper(string(args[i]))
		}
		return ""
	}
	switch word(0) {
	case "INFO", "LOLWUT":
		return true
	case "CLIENT":
		return word(1) == "LIST" || word(1) == "INFO"
	case "CLUSTER":
		return word(1) == "NODES" || word(1) == "INFO"
	case "MEMORY", "LATENCY":
		return word(1) == "DOCTOR"
	}
	return false
}

// appendReply appends the reply to args as p prints it.
func appendReply(out []byte, p resp.Printer, args [][]byte, v resp.Value) []byte {
	if p.Format == resp.Typed && isReport(args) && !v.IsError() {
		p.Format = resp.Raw
	}
	return p.Append(out, v)
}
