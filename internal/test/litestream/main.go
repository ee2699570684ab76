// Command litestream restores a file from a directory by litestream's own code: DIRECTORY FILE [TIME].
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/benbjohnson/litestream/file"
)

func main() {
	o := litestream.NewRestoreOptions()
	o.OutputPath = os.Args[2]
	o.IntegrityCheck = litestream.IntegrityCheckFull
	var err error
	if len(os.Args) > 3 {
		o.Timestamp, err = time.Parse(time.RFC3339Nano, os.Args[3])
	}
	if err == nil {
		err = litestream.NewReplicaWithClient(nil, file.NewReplicaClient(os.Args[1])).Restore(context.Background(), o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
