package rest

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/meowdis/meowdis/engine/pubsub"
	"github.com/meowdis/meowdis/redis/resp"
)

// Events reports whether the reply to a percent-encoded path is a stream of server-sent events, and returns the kind
// of its messages.
func Events(path string) (kind pubsub.Kind, is bool) {
	first, _, _ := strings.Cut(trimPath(path), "/")
	switch strings.ToLower(first) {
	case "subscribe":
		return pubsub.Channel, true
	case "psubscribe":
		return pubsub.Pattern, true
	case "monitor":
		return pubsub.Commands, true
	}
	return 0, false
}

// trimPath decodes a path and removes its leading and trailing slashes. It returns "" for a malformed path.
func trimPath(path string) string {
	path, _ = url.PathUnescape(path)
	return strings.Trim(path, "/")
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// AppendEvent appends a message as an event. Each line of the message, whatever its line ending, becomes a line of the
// event.
func AppendEvent(out []byte, v resp.Value) []byte {
	var text []byte
	switch {
	case v.Kind == resp.Status && string(v.Str) == "OK":
		text = []byte(`"OK"`)
	case v.Kind == resp.Status:
		text = v.Str
	default:
		for i, e := range v.Elems {
			if i > 0 {
				text = append(text, ',')
			}
			if e.Kind == resp.Int {
				text = append(text, resp.FormatInt(e.Int)...)
			} else {
				text = append(text, e.Str...)
			}
		}
	}
	if bytes.IndexByte(text, '\r') >= 0 {
		text = []byte(lineEnds.Replace(string(text)))
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		out = append(append(append(out, "data: "...), line...), '\n')
	}
	return append(out, '\n')
}
