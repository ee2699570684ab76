package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	target      targetOptions
	http        string
	resp        string
	token       secretOptions
	requirePass secretOptions
	timeLimit   time.Duration
	grace       time.Duration
	limits      limitOptions
}

const (
	defaultHTTP = "127.0.0.1:8379"
	defaultRESP = "127.0.0.1:6379"
)

func newServe(s *streams) *cobra.Command {
	o := &serveOptions{grace: 5 * time.Second}
	cmd := &cobra.Command{
		Use:     "serve [FLAGS] [TARGET]",
		GroupID: groupUse,
		Short:   "Serve a file over Upstash's REST protocol and the Redis protocol",
		Long: `Serves the file to programs: Upstash's SDKs over HTTP, any Redis client over RESP.
With neither --http nor --resp both are served, on ` + defaultHTTP + ` and
` + defaultRESP + `. An address without a host is on the loopback interface; port 0
takes a free one. The addresses are printed as soon as they can be used.

A token guards REST: MEOWDIS_TOKEN or --token-file, or one that is made up and
printed. MEOWDIS_REQUIREPASS or --requirepass-file makes RESP clients give a
password with AUTH; without it only clients on this machine are served. --token
and --requirepass can be seen by everybody on the machine.

SIGINT and SIGTERM finish what is running within five seconds, give up the rest
without a trace, and end it. When the file is deleted, moved or replaced
meanwhile, writes are refused, since they would be lost.

` + fileHelp,
		Example: `  meowdis serve
  meowdis serve cats.sqlite --resp 6380
  MEOWDIS_TOKEN=$(cat secret) meowdis serve cats.sqlite --http 0.0.0.0:8080`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeTargets(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.target.spec = args[0]
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.http, "http", "", "`ADDRESS` to serve REST on")
	f.StringVar(&o.resp, "resp", "", "`ADDRESS` to serve the Redis protocol on")
	o.token.addFlags(f, "token", "`TOKEN` that REST clients must send")
	o.requirePass.addFlags(f, "requirepass", "`PASSWORD` that RESP clients must give")
	o.limits.addFlags(f)
	o.target.addFileFlags(cmd, "to serve; :memory: forgets everything")
	f.BoolVar(&o.target.full, "full", false, "make each commit to the file survive a power cut (slower)")
	f.DurationVar(&o.timeLimit, "time-limit", 10*time.Second, "how `LONG` a command may take before it fails without a trace; 0 for no limit")
	f.BoolVarP(&o.target.verbose, "verbose", "v", false, "say on stderr which file is served")
	return cmd
}

// secrets are the token and the password, each from its flag, its file or the
// environment.
func (o *serveOptions) secrets(s *streams) (token, password string, err error) {
	variables, err := o.target.variables()
	if err != nil {
		return "", "", err
	}
	get := func(name string) string { return firstOf(variables[name], s.getenv(name)) }
	if token, err = o.token.read(get("MEOWDIS_TOKEN")); err != nil {
		return "", "", err
	}
	password, err = o.requirePass.read(get("MEOWDIS_REQUIREPASS"))
	return token, password, err
}

func (o *serveOptions) run(ctx context.Context, s *streams) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.limits.check(); err != nil {
		return err
	}
	t, err := o.target.file(s.getenv)
	if err != nil {
		return err
	}
	token, password, err := o.secrets(s)
	if err != nil {
		return err
	}
	if t.settings.ReadOnly {
		return told(ctx, s, "READONLY whoever is served may write, and profile "+t.profile+" is read-only")
	}
	o.target.tell(t, s)
	logger := slog.New(slog.NewTextHandler(s.err, nil))
	file, err := o.target.openFile(t, local.Options{Lanes: true, Report: func(err error) {
		logger.Error("keeping the file", "file", t.path, "error", err)
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	config := server.Config{
		Engine:      engine.New(file),
		Token:       token,
		RequirePass: password,
		TimeLimit:   o.timeLimit,
		Grace:       o.grace + time.Second, // so that who was given up is told
		Told:        local.Told,
		Logger:      logger,
	}
	o.limits.apply(&config, s.getenv)
	go watchFile(ctx, file, config.Logger)
	made := config.Token == ""
	if made {
		config.Token = rand.Text()
	}
	faces, err := o.listen(server.New(config))
	if err != nil {
		return err
	}
	for _, f := range faces {
		fmt.Fprintf(s.out, "%s %s\n", f.name, f.url())
		if made && f.name == "REST" {
			fmt.Fprintf(s.out, "token %s\n", config.Token)
		}
	}
	// Clients have to wait for another process no longer than that, and nobody for them.
	done := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		select {
		case <-done:
		case <-time.After(o.grace):
			file.Abandon()
		}
	})()
	err = serveAll(ctx, faces)
	close(done)
	if n := file.Abandoned(); n > 0 {
		logger.Warn("gave up what was not finished in time; it left no trace", "requests", n, "after", o.grace)
	}
	return err
}

// watchFile says so when the file is no longer under its name, and when it is again.
func watchFile(ctx context.Context, file *local.Store, log *slog.Logger) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	gone := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := file.Moved()
		if errors.Is(err, local.ErrLogGone) {
			err = file.Mend(ctx)
		}
		switch {
		case err != nil && !gone:
			log.Error("writes are refused", "file", file.Path(), "error", err)
		case err == nil && gone:
			log.Info("writes are accepted again", "file", file.Path())
		default:
			continue
		}
		gone = !gone
	}
}

// face is one listener and what is served on it.
type face struct {
	name, scheme string
	listener     net.Listener
	serve        func(context.Context, net.Listener) error
}

func (f face) url() string { return f.scheme + "://" + f.listener.Addr().String() }

// listen opens the listeners that the flags ask for.
func (o *serveOptions) listen(srv *server.Server) (faces []face, err error) {
	rest, redis := o.http, o.resp
	if rest == "" && redis == "" {
		rest, redis = defaultHTTP, defaultRESP
	}
	for _, f := range []struct {
		face
		address string
	}{
		{face{name: "REST", scheme: "http", serve: srv.ServeREST}, rest},
		{face{name: "RESP", scheme: "redis", serve: srv.ServeRESP}, redis},
	} {
		if f.address == "" {
			continue
		}
		if f.listener, err = listenOn(f.address); err != nil {
			for _, open := range faces {
				err = errors.Join(err, open.listener.Close())
			}
			return nil, err
		}
		faces = append(faces, f.face)
	}
	return faces, nil
}

// listenOn opens a listener, or says what to give instead.
func listenOn(address string) (net.Listener, error) {
	full := bindAddress(address)
	_, port, err := net.SplitHostPort(full)
	if n, bad := strconv.Atoi(port); err != nil || bad != nil || n < 0 || n > 65535 {
		return nil, usagef("%s is no address to serve on: give HOST:PORT, :PORT or PORT", address)
	}
	listener, err := net.Listen("tcp", full)
	var host *net.DNSError
	why := ""
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		why = "something else listens there: stop it, or give another port with --http and --resp"
	case errors.Is(err, syscall.EACCES):
		why = "you have no permission to: ports below 1024 are the system's"
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &host):
		why = "that is no address of this machine"
	default:
		return nil, fmt.Errorf("serving on %s: %w", full, err)
	}
	return nil, fmt.Errorf("serving on %s: %s", full, why)
}

// bindAddress reads HOST:PORT, :PORT or PORT. Without a host it is the loopback
// interface: nobody serves the world by leaving something out.
func bindAddress(address string) string {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	if strings.HasPrefix(address, ":") {
		address = "127.0.0.1" + address
	}
	return address
}

// serveAll serves until ctx is done or one of the faces breaks, which ends the
// others.
func serveAll(ctx context.Context, faces []face) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error)
	for _, f := range faces {
		go func() {
			err := f.serve(ctx, f.listener)
			cancel()
			ended <- err
		}()
	}
	var errs []error
	for range faces {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}
