package rest

import (
	"bytes"

	"github.com/meowdis/meowdis/redis/resp"
)

// cursor reads JSON that has only lists and words: strings, numbers and booleans.
type cursor struct {
	text []byte
	at   int
}

// next moves to the byte after white space and returns it; 0 at the end.
func (c *cursor) next() byte {
	for ; c.at < len(c.text); c.at++ {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\r', '\n':
		default:
			return b
		}
	}
	return 0
}

// ended reports whether only white space is left.
func (c *cursor) ended() bool {
	c.next()
	return c.at == len(c.text)
}

// list reads a list, whose elements each reads.
func (c *cursor) list(each func() error) error {
	if c.next() != '[' {
		return errNotWords
	}
	if c.at++; c.next() == ']' {
		c.at++
		return nil
	}
	for {
		if err := each(); err != nil {
			return err
		}
		switch c.next() {
		case ',':
			c.at++
		case ']':
			c.at++
			return nil
		default:
			return errNotWords
		}
	}
}

// words reads a list of words.
func (c *cursor) words() (args [][]byte, err error) {
	args = [][]byte{}
	err = c.list(func() error {
		word, err := c.word()
		args = append(args, word)
		return err
	})
	return args, err
}

// word reads a string without its quotes and escapes, or anything else as it stands: a number keeps its digits as sent.
func (c *cursor) word() ([]byte, error) {
	if c.next() == '"' {
		return c.quoted()
	}
	rest := c.text[c.at:]
	n := bytes.IndexAny(rest, ",] \t\r\n")
	if n < 0 {
		return nil, errNotWords
	}
	word := rest[:n:n]
	if !resp.IsJSONNumber(word) && string(word) != "true" && string(word) != "false" {
		return nil, errNotWords
	}
	c.at += n
	return word, nil
}

// quoted reads a string.
func (c *cursor) quoted() ([]byte, error) {
	begin := c.at + 1
	for i := begin; i < len(c.text); i++ {
		switch b := c.text[i]; {
		case b == '"':
			c.at = i + 1
			return unquote(c.text[begin:i]), nil
		case b < ' ':
			return nil, errNotWords
		case b == '\\':
			n := escapeSize(c.text[i:])
			if n == 0 {
				return nil, errNotWords
			}
			i += n - 1
		}
	}
	return nil, errNotWords
}

// escapeSize returns the size of the escape that text begins with, 0 if it is wrong.
func escapeSize(text []byte) int {
	switch {
	case len(text) < 2:
		return 0
	case bytes.IndexByte([]byte(`"\/bfnrt`), text[1]) >= 0:
		return 2
	case text[1] != 'u' || len(text) < 6:
		return 0
	}
	for _, digit := range text[2:6] {
		if !('0' <= digit && digit <= '9' || 'a' <= digit|0x20 && digit|0x20 <= 'f') {
			return 0
		}
	}
	return 6
}
