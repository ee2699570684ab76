package target

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/resp"
)

// Refusal is an error reply.
type Refusal string

// Error is what the target said, with what to do where that is not plain.
func (r Refusal) Error() string {
	text := string(r)
	switch word, rest, _ := strings.Cut(text, " "); word {
	case "MOVED", "ASK":
		if _, address, ok := strings.Cut(rest, " "); ok {
			return fmt.Sprintf("this server is one node of a cluster, and the key is on %s (%s)", address, text)
		}
	case "NOAUTH":
		return text + " (start with --token PASSWORD)"
	}
	return text
}

// Passes reports whether the target may answer otherwise in a moment.
func (r Refusal) Passes() bool {
	word, _, _ := strings.Cut(string(r), " ")
	return slices.Contains([]string{"LOADING", "MASTERDOWN", "CLUSTERDOWN", "BUSY", "TRYAGAIN"}, word)
}

// ReplyError is the error that v is, or nil.
func ReplyError(v resp.Value) error {
	if v.IsError() {
		return Refusal(v.Str)
	}
	return nil
}
