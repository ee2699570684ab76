package change

import (
	"context"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/inspect/client"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// refusing queues only reads, and so never commits a transaction.
type refusing struct{ keyspace.Client }

func (refusing) Pipeline(_ context.Context, calls [][][]byte) ([]resp.Value, error) {
	values := make([]resp.Value, len(calls))
	for i, call := range calls {
		switch string(call[0]) {
		case "MULTI", "DISCARD":
			values[i] = resp.OK
		case "DUMP":
			values[i] = resp.Queued
		case "EXEC":
			values[i] = resp.MakeError("EXECABORT Transaction discarded because of previous errors.")
		default:
			values[i] = resp.MakeError("ERR wrong number of arguments for 'set' command")
		}
	}
	return values, nil
}

// TestRefusedTogether checks that a refused transaction reports the error of its command.
func TestRefusedTogether(t *testing.T) {
	c := Maker{Conn: client.NewConn(refusing{}, func() int64 { return 0 })}
	var r rereadSet
	r.addAbsent([]string{"k"})
	values, err := c.commitWithReread(context.Background(), 0, r, [][][]byte{client.Command("SET", "k")})
	if err != nil || len(values) != 1 || !strings.Contains(client.Text(values[0]), "wrong number") {
		t.Errorf("got %v %v", values, err)
	}
}
