package psync

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
)

// Position is a place in the replication stream of a server.
type Position struct {
	ID     string // replication ID; "" for no position
	Offset int64  // bytes of the stream before the place
}

// RefusedError reports a server that does not serve replicas: the command is unknown, as on many managed servers, or the
// user may not run it.
type RefusedError struct{ Reply string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the server refuses PSYNC: %s", e.Reply)
}

// errNotNow reports a server that cannot serve replicas at the moment.
var errNotNow = errors.New("the server cannot serve replicas now")

// maxLine limits a line of the handshake.
const maxLine = 64 << 10

// line reads a line of the handshake. A server that is busy with a snapshot sends empty lines, to keep the connection
// open.
func (s *Stream) line() (string, error) {
	for {
		if err := s.conn.SetReadDeadline(time.Now().Add(s.o.Silence)); err != nil {
			return "", err
		}
		var text []byte
		for !bytes.HasSuffix(text, []byte("\n")) {
			b, err := s.in.ReadByte()
			if err != nil {
				return "", err
			}
			if text = append(text, b); len(text) > maxLine {
				return "", fmt.Errorf("the server sent a line of more than %d bytes", maxLine)
			}
		}
		if line := strings.TrimRight(string(text), "\r\n"); line != "" {
			return line, nil
		}
	}
}

// ask sends a command and returns the line of the reply.
func (s *Stream) ask(words ...string) (string, error) {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	if err := s.write(resp.AppendCommand(nil, args...)); err != nil {
		return "", err
	}
	return s.line()
}

// handshake requests the stream after from. It does not send the listening-port of a replica: Redis Sentinel would find
// this process there, and could make it the master.
func (s *Stream) handshake(from Position) error {
	if _, err := s.ask("PING"); err != nil {
		return err
	}
	// A server without these options replies with an error, and sends a snapshot of known length. meowdis sends values of
	// modules to a replica that takes them; other servers ignore capabilities that they do not know.
	if _, err := s.ask("REPLCONF", "capa", "eof", "capa", "psync2", "capa", "meowdis-modules"); err != nil {
		return err
	}
	id, next := "?", int64(-1)
	if from.ID != "" {
		id, next = from.ID, from.Offset+1
	}
	reply, err := s.ask("PSYNC", id, strconv.FormatInt(next, 10))
	if err != nil {
		return err
	}
	words := strings.Fields(reply)
	switch {
	case len(words) == 3 && words[0] == "+FULLRESYNC":
		offset, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil || offset < 0 {
			return fmt.Errorf("invalid reply to PSYNC: %q", reply)
		}
		s.Full, s.At = true, Position{words[1], offset}
	case len(words) > 0 && words[0] == "+CONTINUE" && from.ID != "":
		s.At = from
		if len(words) > 1 { // the server was promoted
			s.At.ID = words[1]
		}
	case strings.HasPrefix(reply, "-NOMASTERLINK"), strings.HasPrefix(reply, "-LOADING"), strings.HasPrefix(reply, "-BUSY"),
		strings.HasPrefix(reply, "-MASTERDOWN"):
		return fmt.Errorf("%w: %s", errNotNow, reply[1:])
	case strings.HasPrefix(reply, "-"):
		return &RefusedError{reply[1:]}
	default:
		return fmt.Errorf("invalid reply to PSYNC: %q", reply)
	}
	return nil
}
