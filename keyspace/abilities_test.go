package keyspace_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/redis/resp"
)

// limited is a server without some commands.
type limited struct{ asked []string }

func (l *limited) DB() int       { return 2 }
func (l *limited) InMulti() bool { return false }

func (l *limited) Do(ctx context.Context, args ...[]byte) (resp.Value, error) {
	all, err := l.Pipeline(ctx, [][][]byte{args})
	return all[0], err
}

func (l *limited) PipelineUntilError(ctx context.Context, calls [][][]byte) ([]resp.Value, error) {
	return l.Pipeline(ctx, calls)
}

func (l *limited) Pipeline(_ context.Context, calls [][][]byte) (all []resp.Value, err error) {
	for _, args := range calls {
		name := string(args[0])
		l.asked = append(l.asked, name)
		switch name {
		case "SCAN", "FT._LIST", "SELECT":
			all = append(all, resp.MakeError("ERR unknown command '"+name+"'"))
		case "INFO":
			all = append(all, resp.MakeError("NOPERM User cat has no permissions to run the 'info' command"))
		case "TS.INFO":
			all = append(all, resp.MakeError("ERR TSDB: the key does not exist"))
		default:
			all = append(all, resp.MakeStatus("OK"))
		}
	}
	return all, nil
}

func TestAbilities(t *testing.T) {
	l := &limited{}
	all, err := keyspace.Abilities(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	for _, a := range all {
		if !a.Has {
			missing = append(missing, a.Name+": "+a.Instead)
		}
	}
	want := []string{"SCAN: KEYS, which blocks the server", "INFO: this user may not", "search: indexes are not moved", "several databases: all keys are in one"}
	if !slices.Equal(missing, want) {
		t.Errorf("missing are %q, not %q", missing, want)
	}
	if !strings.HasSuffix(strings.Join(l.asked, " "), "SELECT MULTI DISCARD") {
		t.Errorf("asked %q", l.asked)
	}
}
