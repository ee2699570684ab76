package change

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/meowdis/meowdis/resp"
)

// WriteScript writes the commands that make the keys of s again to a new file at path, and
// counts the keys. A file that is there is an error.
func (c *Maker) WriteScript(ctx context.Context, db int, s Selection, path string) (n int, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriter(file)
	defer func() { err = errors.Join(err, out.Flush(), file.Close()) }()
	err = c.visit(ctx, db, s, func(names []string) error {
		for some := range slices.Chunk(names, KeysAtOnce) {
			there, err := c.images(ctx, db, some, c.Clock(), func(calls [][][]byte) error {
				for _, call := range calls {
					if _, err := fmt.Fprintln(out, scriptLine(call)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			n += len(there)
		}
		return nil
	})
	return n, err
}

// scriptLine is a command as a line of a script.
func scriptLine(call [][]byte) string {
	var line []byte
	for i, w := range call {
		if i > 0 {
			line = append(line, ' ')
		}
		line = resp.AppendQuoted(line, w, false)
	}
	return string(line)
}
