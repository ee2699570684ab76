package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/redis/resp"
)

// Refusal is an error reply.
type Refusal string

// Error returns the target's message, with a hint for some errors.
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

// Passes reports whether the error is temporary.
func (r Refusal) Passes() bool {
	word, _, _ := strings.Cut(string(r), " ")
	return slices.Contains([]string{"LOADING", "MASTERDOWN", "CLUSTERDOWN", "BUSY", "TRYAGAIN"}, word)
}

// ReplyError returns v as an error, or nil.
func ReplyError(v resp.Value) error {
	if v.IsError() {
		return Refusal(v.Str)
	}
	return nil
}
