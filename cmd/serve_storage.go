package cmd

import (
	"crypto/rand"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/server"
)

// storageOptions holds the tokens for the file's tables.
type storageOptions struct {
	token, readOnly secretOptions
	generated       string // the generated token
}

func (o *storageOptions) addFlags(f *pflag.FlagSet) {
	o.token.addFlags(f, "storage-token", "`TOKEN` that is sent to --storage-url, or that clients of --storage must send")
	o.readOnly.addFlags(f, "storage-read-only-token", "`TOKEN` of clients of --storage that only read")
}

// generateToken generates a token if none is given.
func (o *storageOptions) generateToken(c *server.Config) {
	if c.Storage.Token == "" {
		o.generated = rand.Text()
		c.Storage.Token = o.generated
	}
}

// check refuses to serve tables to other machines with a generated token, which changes at each start.
func (o *storageOptions) check(faces []endpoint) error {
	for _, f := range faces {
		if addr, tcp := f.listener.Addr().(*net.TCPAddr); f.name == storageEndpoint && o.generated != "" && tcp && !addr.IP.IsLoopback() {
			return exit.Usagef("other machines can reach --storage %s: give MEOWDIS_STORAGE_TOKEN or --storage-token-file", addr)
		}
	}
	return nil
}

// line prints a generated token, once.
func (o *storageOptions) line(out *strings.Builder, f endpoint) {
	if f.name == storageEndpoint && o.generated != "" {
		fmt.Fprintf(out, "storage-token %s\n", o.generated)
		o.generated = ""
	}
}
