package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/meowdis/meowdis/cmd/internal/profile"
	"github.com/meowdis/meowdis/inspect"
	"github.com/meowdis/meowdis/keyspace/decode"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/redis/glob"
)

// The limits of a configured decoder: its time, and the bytes of its output.
const (
	decoderTime  = 5 * time.Second
	decoderBytes = 4 << 20
)

// ownDecoders returns a function that finds the configured decoder of a key: the first by name whose pattern matches.
// It returns nil if none is configured. running counts the commands at work.
func ownDecoders(config *profile.Inspect, running *sync.WaitGroup) func(key string) *inspect.Decoder {
	if config == nil || len(config.Decoders) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(config.Decoders))
	runs := map[string]func(context.Context, []byte) ([]byte, error){}
	for name, d := range config.Decoders {
		runs[name] = func(ctx context.Context, data []byte) ([]byte, error) {
			running.Add(1)
			defer running.Done()
			return runDecoder(ctx, d.Command, data)
		}
		if d.Protobuf != "" {
			runs[name] = showMessages(d.Protobuf, d.Message)
		}
	}
	return func(key string) *inspect.Decoder {
		for _, name := range names {
			d := config.Decoders[name]
			if glob.MatchKey([]byte(d.Keys), []byte(key)) {
				return &inspect.Decoder{Name: name, Run: runs[name]}
			}
		}
		return nil
	}
}

// showMessages returns a decoder of Protocol Buffers messages. It reads the file of types at the first value.
func showMessages(file, message string) func(context.Context, []byte) ([]byte, error) {
	load := sync.OnceValues(func() (*decode.Descriptors, error) {
		d, err := readMessages(file)
		if err == nil && !d.Has(message) {
			err = fmt.Errorf("it has no message %q", message)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return d, nil
	})
	return func(_ context.Context, data []byte) ([]byte, error) {
		d, err := load()
		if err != nil {
			return nil, err
		}
		text, err := d.Show(message, data, decoderBytes)
		return []byte(text), err
	}
}

// readMessages reads a compiled descriptor set, or a .proto file, whose imports are in its directory or one above.
func readMessages(file string) (*decode.Descriptors, error) {
	if filepath.Ext(file) != ".proto" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		return decode.ParseDescriptors(b)
	}
	return decode.ParseProto(filepath.Base(file), func(name string) (string, error) {
		for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil || dir == filepath.Dir(dir) {
				return string(b), err
			}
		}
	})
}

// runDecoder gives data to a command and returns its output. It also ends every process that the command started.
func runDecoder(ctx context.Context, command []string, data []byte) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, decoderTime)
	defer stop()
	out, says := &bounded{most: decoderBytes, full: stop}, &bounded{most: 4 << 10, full: func() {}}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), out, says
	cmd.WaitDelay = time.Second // time for its child processes to close the output
	err := runGroup(cmd)
	why, _, _ := strings.Cut(strings.TrimSpace(string(says.kept)), "\n")
	switch {
	case out.cut:
		return nil, fmt.Errorf("it wrote more than %s", display.Bytes(decoderBytes))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("it took longer than %v", decoderTime)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, errors.New("a process that it started keeps its output open")
	case err != nil && why != "":
		return nil, fmt.Errorf("%w: %s", err, display.Text(why, 200))
	}
	return out.kept, err
}

// bounded keeps the first most bytes written, and calls full if there are more.
type bounded struct {
	kept []byte
	most int
	full func()
	cut  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - len(b.kept)
	b.kept = append(b.kept, p[:min(len(p), room)]...)
	if len(p) > room && !b.cut {
		b.cut = true
		b.full()
	}
	return len(p), nil
}
