package transfer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/transfer/cmdfile"
)

// Commands returns the next command and its position, such as "byte 17" or "line 3". An error,
// such as io.EOF, ends it.
type Commands func() (args [][]byte, place string, err error)

// FromLog reads commands in the format of an append-only file. offset is the position of in
// within its file.
func FromLog(in io.Reader, offset int64) Commands {
	counted := &counter{in: in, n: offset}
	r := resp.NewReader(counted)
	return func() ([][]byte, string, error) {
		for {
			at := counted.n - int64(r.Buffered())
			args, err := r.ReadCommand()
			switch {
			case errors.Is(err, io.EOF):
				return nil, "", io.EOF
			case errors.Is(err, io.ErrUnexpectedEOF):
				return nil, "", fmt.Errorf("the log is damaged at byte %d: %w", at, rdb.ErrTruncated)
			case err != nil:
				return nil, "", fmt.Errorf("the log is damaged in the command at byte %d: %w", at, err)
			case !isComment(args[0]):
				return args, fmt.Sprintf("byte %d", at), nil
			}
		}
	}
}

// isComment reports whether a line is an annotation, such as a timestamp.
func isComment(word []byte) bool { return bytes.HasPrefix(word, []byte("#")) }

// counter counts the bytes read.
type counter struct {
	in io.Reader
	n  int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.n += int64(n)
	return n, err
}

// FromScript reads commands from lines in redis-cli's quoting.
func FromScript(in io.Reader) Commands {
	r := cmdfile.NewReader(in)
	return func() ([][]byte, string, error) {
		c, err := r.Read()
		return c.Args, r.Where(c), err
	}
}

// ReplayOptions holds the callbacks of a replay.
type ReplayOptions struct {
	Refused func(place, command string, err error) // receives each command that returned an error
	Skipped func(place, what string)               // receives each skipped item
	Seen    func(commands int64)                   // receives the number of commands run since the last call
	Notify  Notify                                 // receives each key of a dump that was not written
}

const (
	replayCommands = 8192
	replayBytes    = 2 << 20
)

// Replay runs commands on a session in batches. An unfinished transaction has no effect.
func Replay(ctx context.Context, commands Commands, s keyspace.Session, o ReplayOptions) error {
	var calls [][][]byte
	var places []string
	held := 0
	for {
		args, place, ended := commands()
		if ended == nil {
			calls, places = append(calls, args), append(places, place)
			held += size(args)
		}
		if len(calls) > 0 && (ended != nil || len(calls) == replayCommands || held > replayBytes) {
			if err := o.send(ctx, s, calls, places); err != nil {
				return err
			}
			large := held > largeValueBytes
			clear(calls)
			calls, places, held = calls[:0], places[:0], 0
			if large {
				debug.FreeOSMemory()
			}
		}
		switch {
		case errors.Is(ended, io.EOF):
			return nil
		case ended != nil:
			return ended
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// send runs calls, whose places in the input are places, and reports the refused ones.
func (o *ReplayOptions) send(ctx context.Context, s keyspace.Session, calls [][][]byte, places []string) error {
	replies, err := s.Pipeline(ctx, calls)
	if err != nil {
		return fmt.Errorf("%s: %w", places[0], err)
	}
	for i, v := range replies {
		if err := firstRefused(v); err != nil {
			o.Refused(places[i], strings.ToUpper(string(calls[i][0])), err)
		}
	}
	o.Seen(int64(len(calls)))
	return nil
}

// firstRefused returns the first error in a reply, including the replies inside EXEC.
func firstRefused(v resp.Value) error {
	if v.IsError() {
		return refused(v)
	}
	for _, e := range v.Elems {
		if err := firstRefused(e); err != nil {
			return err
		}
	}
	return nil
}

// ReplayLog replays an append-only file, which may begin with an RDB dump.
func ReplayLog(ctx context.Context, in *bufio.Reader, s keyspace.Session, o ReplayOptions) error {
	offset := int64(0)
	if beginning, _ := in.Peek(16); rdb.IsFile(beginning) {
		note := func(at int64, what string) { o.Skipped(fmt.Sprintf("byte %d", at), what) }
		f := rdb.NewFile(in, note)
		var all Definitions
		all.readFrom(f, note)
		seen := func(p Part) {
			if p.Last {
				o.Seen(1)
			}
		}
		if err := Run(ctx, fromFile(f), NewWriter(s, WriteOptions{Existing: Replace, Notify: o.Notify, BatchCommands: replayCommands}), o.Notify, seen); err != nil {
			return err
		}
		refused := func(name, why string) { o.Refused("the beginning", name, errors.New(why)) }
		if _, err := WriteDefinitions(ctx, s, all, Replace, refused); err != nil {
			return err
		}
		offset = f.Offset()
	}
	return Replay(ctx, FromLog(in, offset), s, o)
}

// LogFiles returns the files in the manifest of an append-only directory, in replay order.
func LogFiles(manifest io.Reader) (names []string, err error) {
	in := bufio.NewScanner(manifest)
	var later []string
	for number := 1; in.Scan(); number++ {
		words, err := resp.SplitLine(in.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d of the manifest: %w", number, err)
		}
		if len(words) == 0 || isComment(words[0]) {
			continue
		}
		about := map[string]string{}
		for i := 0; i+1 < len(words); i += 2 {
			about[string(words[i])] = string(words[i+1])
		}
		switch name := about["file"]; about["type"] {
		case "b":
			names = append(names, name)
		case "i":
			later = append(later, name)
		case "h":
			// History: files from before the last rewrite.
		default:
			return nil, fmt.Errorf("line %d of the manifest names no file of a known type", number)
		}
		if name := about["file"]; name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
			return nil, fmt.Errorf("line %d of the manifest names no file in its directory", number)
		}
	}
	return append(names, later...), in.Err()
}
