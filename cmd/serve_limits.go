package cmd

import (
	"runtime/debug"
	"time"

	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/server"
)

// limitOptions bound what clients may ask of the server.
type limitOptions struct {
	requestMemory, memory byteSize
	clients               int
	writeTimeout          time.Duration
}

func (o *limitOptions) addFlags(f *pflag.FlagSet) {
	o.requestMemory, o.memory = 1<<30, 2<<30
	f.Var(&o.requestMemory, "max-request-memory", "`SIZE` that one request may hold of rows and replies")
	f.Var(&o.memory, "max-memory", "`SIZE` that all requests together may hold")
	f.IntVar(&o.clients, "max-clients", 10_000, "`NUMBER` of connections over each protocol")
	f.DurationVar(&o.writeTimeout, "write-timeout", 30*time.Second, "`TIME` that a client may take nothing of its reply")
}

func (o *limitOptions) check() error {
	if o.clients < 1 || o.writeTimeout <= 0 {
		return usagef("--max-clients and --write-timeout are more than 0")
	}
	return nil
}

// besideRequests is what the process takes while requests hold nothing, amply.
const besideRequests = 512 << 20

// apply gives the limits to a server. Unless GOMEMLIMIT says otherwise, garbage is
// collected early where the process would take more than them: by itself Go waits until
// there is as much garbage as memory in use.
func (o *limitOptions) apply(c *server.Config, getenv func(string) string) {
	c.MaxRequestMemory, c.MaxMemory = int64(o.requestMemory), int64(o.memory)
	c.MaxClients, c.WriteTimeout = o.clients, o.writeTimeout
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(o.memory) + besideRequests)
	}
}
