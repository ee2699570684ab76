package cmd

import (
	"context"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	function "github.com/aws/aws-lambda-go/lambda"
	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/remote"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/server/lambda"
)

// lambdaOptions holds the settings of the function, which come from the environment.
type lambdaOptions struct {
	target targets.Options
	log    logOptions
}

// runtimeVariable is set by AWS Lambda.
const runtimeVariable = "AWS_LAMBDA_RUNTIME_API"

func newLambda(s *streams) *cobra.Command {
	o := &lambdaOptions{}
	cmd := &cobra.Command{
		Use:     "lambda [FLAGS]",
		GroupID: groupUse,
		Short:   "Run as an AWS Lambda function (Upstash REST)",
		Long: `Runs as an AWS Lambda function with a function URL, and serves Upstash's SDKs.
Its keys are in a storage: see --storage of "meowdis serve".

Lambda runs the file called "bootstrap" in the function's archive. Set
MEOWDIS_STORAGE_URL, MEOWDIS_STORAGE_TOKEN, and MEOWDIS_TOKEN, which clients
must send.`,
		Example: `  cp meowdis bootstrap && zip function.zip bootstrap`,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), s)
		},
	}
	o.log.addFlags(cmd.Flags())
	return cmd
}

// lambdaArgs returns the arguments of the process, or the verb lambda if Lambda started it.
func lambdaArgs(args []string, getenv func(string) string) []string {
	if filepath.Base(args[0]) == "bootstrap" && len(args) == 1 && getenv(runtimeVariable) != "" {
		return []string{"lambda"}
	}
	return args[1:]
}

func (o *lambdaOptions) run(ctx context.Context, s *streams) error {
	if s.getenv(runtimeVariable) == "" {
		return exit.Usagef("%s is not set: lambda runs only in AWS Lambda; elsewhere use meowdis serve", runtimeVariable)
	}
	logger, err := o.log.logger(s.err)
	if err != nil {
		return err
	}
	t, err := o.target.FileOrStorage(s.getenv)
	switch {
	case err != nil:
		return err
	case !t.IsStorage():
		return exit.Usagef("a function cannot keep files: set MEOWDIS_STORAGE_URL to a storage")
	case s.getenv("MEOWDIS_TOKEN") == "":
		return exit.Usagef("MEOWDIS_TOKEN is not set: set it to the token that clients must send")
	}
	n := &node{open: func(ctx context.Context) (targets.Store, error) { return o.target.OpenStore(ctx, t) }, config: server.Config{
		Token: s.getenv("MEOWDIS_TOKEN"), ReadOnlyToken: s.getenv("MEOWDIS_READ_ONLY_TOKEN"), Logger: logger,
	}}
	function.StartWithOptions(lambda.Function(n), function.WithContext(ctx))
	return nil
}

// node serves REST on a storage, which it opens at the first request.
type node struct {
	open   func(context.Context) (targets.Store, error)
	config server.Config

	mu      sync.Mutex
	store   targets.Store
	handler http.Handler
	last    time.Time // time of the last request, by the wall clock
}

// After an idle time of freezeTime, Lambda may have frozen the function, and the storage may have closed its
// connections.
const freezeTime = 5 * time.Second

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, err := n.ready(r.Context())
	if err != nil {
		n.config.Logger.Error("opening the storage", "error", err)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"error":"ERR the storage cannot be reached: see the function's log"}`))
		return
	}
	h.ServeHTTP(w, r)
}

// idler is a storage with connections that do not outlast a frozen process.
type idler interface{ CloseIdle() }

var _ idler = (*remote.Storage)(nil)

func (n *node) ready(ctx context.Context) (http.Handler, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now().Round(0) // without the monotonic clock, which stops while the function is frozen
	idle, can := n.store.(idler)
	if can && now.Sub(n.last) > freezeTime {
		idle.CloseIdle()
	}
	n.last = now
	if n.handler != nil {
		return n.handler, nil
	}
	s, err := n.open(ctx)
	if err != nil {
		return nil, err
	}
	n.store, n.config.Engine = s, engine.New(s)
	if public, can := s.(publisher); can {
		n.config.PublicMessage = public.PublicMessage
	}
	n.handler = server.New(n.config).REST()
	return n.handler, nil
}
