package keyspace

import (
	"context"

	"github.com/meowdis/meowdis/redis/resp"
)

// Client runs commands on a target: a file, an endpoint or a server. It must not be used concurrently. It
// returns the error of a failed command as a reply; an error means that the commands may not have run.
type Client interface {
	Do(ctx context.Context, args ...[]byte) (resp.Value, error)
	Pipeline(ctx context.Context, calls [][][]byte) ([]resp.Value, error)
}

// Session is a Client whose target keeps a selected database and a transaction for it. engine.Session,
// remote.REST and remote.Redis implement it.
type Session interface {
	Client
	// PipelineUntilError stops after the first error reply, and returns the replies up to that one.
	PipelineUntilError(ctx context.Context, calls [][][]byte) ([]resp.Value, error)
	DB() int       // the selected database
	InMulti() bool // MULTI queues commands
}
