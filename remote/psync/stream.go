package psync

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
)

// Options configures a Stream. The zero value is right for most.
type Options struct {
	Dir         string        // of the spools' files; "" for the system's
	Memory      int           // of each spool, in bytes; 0 means 4 MB
	Silence     time.Duration // a connection without any byte for so long counts as lost; 0 means a minute
	Acknowledge time.Duration // interval of acknowledgements; 0 means a second
}

// Stream is the replication stream of one connection. One goroutine may use it, besides Applied.
type Stream struct {
	Full bool     // a snapshot precedes the commands
	At   Position // of the snapshot, or of the first command

	o       Options
	conn    net.Conn
	in      *bufio.Reader
	writing sync.Mutex

	snapshot, commands *spool
	counted            *counter
	replies            *resp.Reader

	applied  atomic.Int64 // offset
	received atomic.Int64 // offset
	stop     context.CancelFunc
	ended    sync.WaitGroup
}

// Start requests the stream after from on conn, whose user is authenticated. The zero Position requests a snapshot. It
// returns a *RefusedError if the server never serves replicas. Start closes conn unless it returns a Stream.
func Start(ctx context.Context, conn net.Conn, from Position, o Options) (*Stream, error) {
	if o.Memory == 0 {
		o.Memory = 4 << 20
	}
	if o.Silence == 0 {
		o.Silence = time.Minute
	}
	if o.Acknowledge == 0 {
		o.Acknowledge = time.Second
	}
	s := &Stream{o: o, conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
	unblock := context.AfterFunc(ctx, func() { conn.Close() })
	err := s.handshake(from)
	if !unblock() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	s.snapshot, s.commands = newSpool(o.Dir, o.Memory), newSpool(o.Dir, o.Memory)
	s.applied.Store(s.At.Offset)
	s.received.Store(s.At.Offset)
	s.counted = &counter{in: s.commands, n: s.At.Offset}
	s.replies = resp.NewReader(s.counted)
	ctx, s.stop = context.WithCancel(ctx)
	arrived := make(chan struct{})
	s.ended.Add(2)
	go func() {
		defer s.ended.Done()
		err := store.Caught(func() error { return s.receive(arrived) })
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		} else if errors.Is(err, io.EOF) {
			err = errors.New("the server closed the connection")
		}
		s.snapshot.close(err)
		s.commands.close(err)
	}()
	go func() {
		defer s.ended.Done()
		defer conn.Close() // ends receive
		if err := store.Caught(func() error { return s.acknowledge(ctx, arrived) }); err != nil {
			s.commands.close(err)
		}
	}()
	return s, nil
}

// Close closes the connection and deletes the spools.
func (s *Stream) Close() error {
	s.stop()
	s.ended.Wait()
	return errors.Join(s.snapshot.remove(), s.commands.remove())
}

// Hangup closes the connection. Next returns an error after the commands that have arrived. Any goroutine may call it.
func (s *Stream) Hangup() { s.conn.Close() }

// Snapshot returns the RDB file of a full stream. It ends with io.EOF.
func (s *Stream) Snapshot() io.Reader { return s.snapshot }

// Received returns the offset of the last byte that has arrived.
func (s *Stream) Received() int64 { return s.received.Load() }

// Command is one command of the stream.
type Command struct {
	Args [][]byte
	End  int64 // offset after the command
}

// Ready reports whether Next returns at once, or as soon as the rest of a command arrives.
func (s *Stream) Ready() bool { return s.replies.Buffered() > 0 || s.commands.size() > 0 }

// Next returns the next command, and waits for it. It replies to GETACK, which it returns, too.
func (s *Stream) Next() (Command, error) {
	args := s.replies.Next()
	if args == nil {
		var err error
		if args, err = s.replies.ReadCommand(); err != nil {
			return Command{}, err
		}
	}
	return Command{args, s.counted.n - int64(s.replies.Buffered())}, nil
}

// Applied reports that the caller has applied the stream up to offset. Any goroutine may call it.
func (s *Stream) Applied(offset int64) { s.applied.Store(offset) }

// Acknowledge sends the offset that was applied at once, as the command REPLCONF GETACK requests.
func (s *Stream) Acknowledge() error {
	return s.write(resp.AppendCommand(nil, []byte("REPLCONF"), []byte("ACK"), strconv.AppendInt(nil, s.applied.Load(), 10)))
}

// acknowledge sends acknowledgements until ctx ends. The first one makes a server that sends a snapshot without a file
// begin with the commands.
func (s *Stream) acknowledge(ctx context.Context, arrived <-chan struct{}) error {
	select {
	case <-arrived:
	case <-ctx.Done():
		return nil
	}
	tick := time.NewTicker(s.o.Acknowledge)
	defer tick.Stop()
	for {
		if err := s.Acknowledge(); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Stream) write(b []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.conn.SetWriteDeadline(time.Now().Add(s.o.Silence)); err != nil {
		return err
	}
	_, err := s.conn.Write(b)
	return err
}

// receive reads the connection into the spools until it ends. It closes arrived after the snapshot.
func (s *Stream) receive(arrived chan<- struct{}) error {
	if s.Full {
		if err := s.receiveSnapshot(); err != nil {
			return fmt.Errorf("receiving the snapshot: %w", err)
		}
	}
	s.snapshot.close(io.EOF)
	close(arrived)
	for {
		b, err := s.some()
		if err != nil {
			return err
		}
		s.received.Add(int64(len(b)))
		if err := s.commands.write(b); err != nil {
			return err
		}
		s.in.Discard(len(b))
	}
}

// some waits for bytes, and returns the buffered ones.
func (s *Stream) some() ([]byte, error) {
	if s.in.Buffered() == 0 {
		if err := s.conn.SetReadDeadline(time.Now().Add(s.o.Silence)); err != nil {
			return nil, err
		}
		if _, err := s.in.Peek(1); err != nil {
			return nil, err
		}
	}
	return s.in.Peek(s.in.Buffered())
}

// A mark of markLength bytes ends a snapshot of unknown length.
const markLength = 40

// receiveSnapshot reads $LENGTH or $EOF:MARK, and the snapshot.
func (s *Stream) receiveSnapshot() error {
	head, err := s.line()
	if err != nil {
		return err
	}
	if mark, ok := strings.CutPrefix(head, "$EOF:"); ok && len(mark) == markLength {
		return s.untilMark([]byte(mark))
	}
	left, err := strconv.ParseInt(strings.TrimPrefix(head, "$"), 10, 64)
	if err != nil || left < 0 || head[0] != '$' {
		return fmt.Errorf("invalid beginning %q", head)
	}
	for left > 0 {
		b, err := s.some()
		if err != nil {
			return err
		}
		b = b[:min(int64(len(b)), left)]
		if err := s.snapshot.write(b); err != nil {
			return err
		}
		left -= int64(len(b))
		s.in.Discard(len(b))
	}
	return nil
}

// untilMark reads a snapshot that ends with mark. Nothing follows the mark before the first acknowledgement.
func (s *Stream) untilMark(mark []byte) error {
	var last []byte // the end of the snapshot, which may be the mark
	for {
		b, err := s.some()
		if err != nil {
			return err
		}
		last = append(last, b...)
		s.in.Discard(len(b))
		if bytes.HasSuffix(last, mark) {
			return s.snapshot.write(last[:len(last)-len(mark)])
		}
		if sure := len(last) - len(mark); sure > 0 {
			if err := s.snapshot.write(last[:sure]); err != nil {
				return err
			}
			last = append(last[:0], last[sure:]...)
		}
	}
}

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
