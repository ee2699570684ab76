package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// PathCommand is the command of the path form: the segments of the path, the body when there is one, then
// the query's keys and values in their order. A base URL that ends with a slash makes two of them at the
// beginning. It is empty when the path is. path and query are as they were sent, percent encoded.
func PathCommand(path, query string, body []byte) ([][]byte, error) {
	var args [][]byte
	if path = strings.TrimLeft(path, "/"); path != "" {
		for segment := range strings.SplitSeq(path, "/") {
			arg, err := url.PathUnescape(segment)
			if err != nil {
				return nil, errNotCommand
			}
			args = append(args, []byte(arg))
		}
	}
	if len(args) == 0 {
		return nil, nil
	}
	if len(body) > 0 {
		args = append(args, body)
	}
	for pair := range strings.SplitSeq(query, "&") {
		key, value, hasValue := strings.Cut(pair, "=")
		if key == "" || key == "_token" {
			continue
		}
		words := []string{key}
		if hasValue {
			words = append(words, value)
		}
		for _, word := range words {
			arg, err := url.QueryUnescape(word)
			if err != nil {
				return nil, errNotCommand
			}
			args = append(args, []byte(arg))
		}
	}
	return args, nil
}

var (
	errNotCommand  = errors.New("ERR failed to parse command")
	errNotArgument = errors.New("an argument must be a string, a number or a boolean")
)

// A word costs many times its bytes once it is taken apart, a command with its reply
// a kilobyte, and a body of tiny ones has millions of them.
const (
	maxWords    = 1 << 20 // of a request, those of a pipeline's commands together
	maxCommands = 1 << 18 // of a pipeline
)

// checkWords refuses a JSON body with more words, before it is taken apart.
func checkWords(body []byte) error {
	words, quoted := 1, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			words++
		}
	}
	if words > maxWords {
		return fmt.Errorf("ERR max request arguments exceeded. Limit: %d, Actual: %d", maxWords, words)
	}
	return nil
}

// parseCommand reads a JSON array that is one command. The error is the reply's.
func parseCommand(body []byte) ([][]byte, error) {
	if err := checkWords(body); err != nil {
		return nil, err
	}
	args, err := parseWords(body)
	if err != nil {
		return nil, errNotCommand
	}
	return args, nil
}

// parseWords reads one command: a JSON array of its words.
func parseWords(body []byte) ([][]byte, error) {
	var words []json.RawMessage
	if err := json.Unmarshal(body, &words); err != nil {
		return nil, err
	}
	args := make([][]byte, len(words))
	for i, word := range words {
		switch word[0] {
		case '"':
			args[i] = unquote(word[1 : len(word)-1])
		case '{', '[', 'n':
			return nil, errNotArgument
		default: // a number keeps the digits that were sent
			args[i] = word
		}
	}
	return args, nil
}

// parsePipeline reads a JSON array of commands. The error is the reply's.
func parsePipeline(body []byte) ([][][]byte, error) {
	if err := checkWords(body); err != nil {
		return nil, err
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(body, &rows); err != nil {
		return nil, errors.New("ERR failed to parse pipeline request")
	}
	switch {
	case len(rows) == 0:
		return nil, errors.New("ERR empty pipeline request")
	case len(rows) > maxCommands:
		return nil, fmt.Errorf("ERR max pipeline commands exceeded. Limit: %d, Actual: %d", maxCommands, len(rows))
	}
	calls := make([][][]byte, len(rows))
	for i, row := range rows {
		var err error
		if calls[i], err = parseWords(row); err != nil {
			return nil, errors.New("ERR failed to parse pipeline request")
		}
	}
	return calls, nil
}

// unquote undoes the escapes of a JSON string that is known to be valid. Bytes
// that are not UTF-8 stay as they are, so that a client can send any.
func unquote(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hex4(s[i+1:])
			i += 4
			if next := s[i+1:]; utf16.IsSurrogate(r) && len(next) >= 6 && next[0] == '\\' && next[1] == 'u' {
				if pair := utf16.DecodeRune(r, hex4(next[2:])); pair != utf8.RuneError {
					r = pair
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default: // " \ /
			out = append(out, s[i])
		}
	}
	return out
}

func hex4(s []byte) rune {
	n, _ := strconv.ParseUint(string(s[:4]), 16, 32)
	return rune(n)
}
