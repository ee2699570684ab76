package rest

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// PathCommand returns the command of the path form: the segments of the path, the body if it is not empty, then the
// query's keys and values in order. Extra slashes at the beginning are ignored, since a base URL may end with one. An
// empty path gives an empty command. path and query are percent-encoded, as sent.
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
	errNotCommand = errors.New("ERR failed to parse command")
	errNotWords   = errors.New("this is not a JSON array of strings, numbers and booleans")
)

// Limits of a JSON body. A parsed word takes many times its bytes and a command with its reply a kilobyte, and a body
// can have millions of tiny commands.
const (
	maxWords    = 1 << 20 // per request, over all commands of a pipeline
	maxCommands = 1 << 18 // per pipeline
)

// checkWords refuses a JSON body with too many words before it is parsed.
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

// parseCommand parses a JSON array that is one command. Its error is the reply.
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

// parseWords parses a JSON array of a command's words.
func parseWords(body []byte) ([][]byte, error) {
	c := cursor{text: body}
	args, err := c.words()
	if err == nil && !c.ended() {
		err = errNotWords
	}
	return args, err
}

// parsePipeline parses a JSON array of commands. Its error is the reply.
func parsePipeline(body []byte) ([][][]byte, error) {
	if err := checkWords(body); err != nil {
		return nil, err
	}
	var calls [][][]byte
	c := cursor{text: body}
	err := c.list(func() error {
		args, err := c.words()
		calls = append(calls, args)
		return err
	})
	switch {
	case err != nil || !c.ended():
		return nil, errors.New("ERR failed to parse pipeline request")
	case len(calls) == 0:
		return nil, errors.New("ERR empty pipeline request")
	case len(calls) > maxCommands:
		return nil, fmt.Errorf("ERR max pipeline commands exceeded. Limit: %d, Actual: %d", maxCommands, len(calls))
	}
	return calls, nil
}

// unquote decodes the escapes of a valid JSON string. It keeps invalid UTF-8, so that a client can send any bytes.
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
