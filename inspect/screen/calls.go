package screen

import (
	"strconv"
	"strings"

	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/resp"
)

// CallText returns a command as a user would type it, in at most width cells.
func CallText(call [][]byte, width int) string {
	var b strings.Builder
	for i, w := range call {
		if i > 0 {
			b.WriteByte(' ')
		}
		if b.Len() > 4*width {
			break
		}
		b.WriteString(Quote(w[:min(len(w), 4*width)]))
	}
	return display.Truncate(b.String(), width)
}

// Quote returns a word of a command line, quoted if necessary.
func Quote(w []byte) string {
	for _, c := range w {
		if c <= ' ' || c == '"' || c == '\'' || c == '\\' || c > '~' {
			return string(resp.AppendQuoted(nil, w, true))
		}
	}
	if len(w) == 0 {
		return `""`
	}
	return string(w)
}

// CallsText returns the first of several commands and the number of the other ones.
func CallsText(calls [][][]byte, width int) string {
	if len(calls) == 1 {
		return CallText(calls[0], width)
	}
	more := ", and " + strconv.Itoa(len(calls)-1) + " more"
	return CallText(calls[0], width-len(more)) + more
}
