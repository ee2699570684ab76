package cmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/exit"
	"github.com/meowdis/meowdis/internal/target"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	target      target.Options
	http        string
	resp        string
	token       secretOptions
	requirePass secretOptions
	aclFile     string
	timeLimit   time.Duration
	grace       time.Duration
	limits      limitOptions
}

const (
	defaultHTTP = "127.0.0.1:8379"
	defaultRESP = "127.0.0.1:6379"
)

// keptRows is the memory for rows that are read again and again.
const keptRows = 32 << 20

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

ACL SETUSER makes users who may do less, as in Redis, and ACL RESTTOKEN their
tokens. They are kept in --aclfile, whose lines are those of ACL LIST; without one
they end with the server.

SIGINT and SIGTERM finish what is running within five seconds, give up the rest
without a trace, and end it. When the file is deleted, moved or replaced
meanwhile, writes are refused, since they would be lost.

` + fileHelp,
		Example: `  meowdis serve
  meowdis serve cats.sqlite --resp 6380
  MEOWDIS_TOKEN=$(cat secret) meowdis serve cats.sqlite --http 0.0.0.0:8080`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: target.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.target.Spec = args[0]
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.http, "http", "", "`ADDRESS` to serve REST on")
	f.StringVar(&o.resp, "resp", "", "`ADDRESS` to serve the Redis protocol on")
	o.token.addFlags(f, "token", "`TOKEN` that REST clients must send")
	o.requirePass.addFlags(f, "requirepass", "`PASSWORD` that RESP clients must give")
	f.StringVar(&o.aclFile, "aclfile", "", "`FILE` with users and what they may do, which ACL SAVE writes")
	o.limits.addFlags(f)
	o.target.AddFileFlags(cmd, "to serve; :memory: forgets everything")
	f.BoolVar(&o.target.Full, "full", false, "make each commit to the file survive a power cut (slower)")
	f.DurationVar(&o.timeLimit, "time-limit", 10*time.Second, "how `LONG` a command may take before it fails without a trace; 0 for no limit")
	f.BoolVarP(&o.target.Verbose, "verbose", "v", false, "say on stderr which file is served")
	return cmd
}

// secrets are the token and the password, each from its flag, its file or the
// environment.
func (o *serveOptions) secrets(s *streams) (token, password string, err error) {
	variables, err := o.target.Variables()
	if err != nil {
		return "", "", err
	}
	get := func(name string) string { return cmp.Or(variables[name], s.getenv(name)) }
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
	t, err := o.target.File(s.getenv)
	if err != nil {
		return err
	}
	token, password, err := o.secrets(s)
	if err != nil {
		return err
	}
	if t.Settings.ReadOnly {
		return refusedWith(ctx, s, "READONLY clients of a server may write, and profile "+t.Profile+" is read-only")
	}
	o.target.Announce(t, s.err)
	logger := slog.New(slog.NewTextHandler(s.err, nil))
	file, err := o.target.OpenFile(t, local.Options{Lanes: true, Keep: keptRows, Report: func(err error) {
		logger.Error("keeping the file", "file", t.Path, "error", err)
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	config := server.Config{
		Engine:      engine.New(file),
		Token:       token,
		RequirePass: password,
		ACLFile:     o.aclFile,
		TimeLimit:   o.timeLimit,
		Grace:       o.grace + time.Second, // so that a client that was given up gets an error reply
		Told:        local.Told,
		Logger:      logger,
	}
	o.limits.apply(&config, s.getenv)
	go watchFile(ctx, file, config.Logger)
	made := config.Token == ""
	if made {
		config.Token = rand.Text()
	}
	srv := server.New(config)
	if err := srv.LoadUsers(); err != nil {
		return fmt.Errorf("reading the users: %w", err)
	}
	faces, err := o.listen(srv)
	if err != nil {
		return err
	}
	for _, f := range faces {
		fmt.Fprintf(s.out, "%s %s\n", f.name, f.url())
		if made && f.name == "REST" {
			fmt.Fprintf(s.out, "token %s\n", config.Token)
		}
	}
	// When the server stops, no client waits longer than grace for another process, and
	// the server no longer for clients.
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
		return nil, exit.Usagef("%s is no address to serve on: give HOST:PORT, :PORT or PORT", address)
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
// interface: the world is served only where that is asked for.
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
		return exit.Usagef("--max-clients and --write-timeout are more than 0")
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

// byteSize is a flag of bytes: a number, with kb, mb or gb after it or without.
type byteSize int64

var byteUnits = []struct {
	suffix string
	bytes  int64
}{{"gb", 1 << 30}, {"mb", 1 << 20}, {"kb", 1 << 10}, {"b", 1}, {"", 1}}

func (s *byteSize) String() string {
	for _, u := range byteUnits {
		if n := int64(*s); n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return "0"
}

func (s *byteSize) Set(text string) error {
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(strings.ToLower(text), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = byteSize(n * u.bytes)
		return nil
	}
	return fmt.Errorf("give bytes as 500mb or 2gb")
}

func (s *byteSize) Type() string { return "size" }

// secretOptions are the flags of a secret: itself, which others can see in a list of
// processes, and a file that has it.
type secretOptions struct {
	name        string
	value, file string
}

func (o *secretOptions) addFlags(f *pflag.FlagSet, name, usage string) {
	o.name = name
	f.StringVar(&o.value, name, "", usage)
	f.StringVar(&o.file, name+"-file", "", "`FILE` whose first line is that of --"+name)
}

// read is the secret that the flags give, or else the other one.
func (o *secretOptions) read(other string) (string, error) {
	switch {
	case o.value != "" && o.file != "":
		return "", exit.Usagef("give --%s or --%[1]s-file, not both", o.name)
	case o.file == "":
		return cmp.Or(o.value, other), nil
	}
	text, err := os.ReadFile(o.file)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", o.file, local.Pathless(err))
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("reading %s: its first line is empty", o.file)
	}
	return line, nil
}
