package inspect

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := Run(ctx, Options{Client: newFake(), In: &bytes.Buffer{}, Out: &bytes.Buffer{}})
	if err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// TestPanicsLeaveTheTerminal checks that a panic restores the terminal and ends with an error.
func TestPanicsLeaveTheTerminal(t *testing.T) {
	var out bytes.Buffer
	in, typing := io.Pipe()
	defer typing.Close()
	err := Run(context.Background(), Options{Client: panics{}, In: in, Out: &out})
	if err == nil || !strings.Contains(out.String(), "\x1b[?1049h") || !strings.Contains(out.String(), "\x1b[?1049l") {
		t.Errorf("got %v after %q", err, out.String())
	}
}

// panics is a client that panics.
type panics struct{ keyspace.Client }

func (panics) Pipeline(context.Context, [][][]byte) ([]resp.Value, error) { panic("a mistake") }

func TestRunQuits(t *testing.T) {
	var out bytes.Buffer
	err := Run(context.Background(), Options{Client: newFake().zoo(), In: strings.NewReader("q"), Out: &out})
	if err != nil {
		t.Errorf("got %v", err)
	}
}
