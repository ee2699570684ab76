package cmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/logging"
)

// serveOptions holds the flags of serve.
type serveOptions struct {
	target      targets.Options
	addresses   addressOptions
	tls         tlsOptions
	log         logOptions
	token       secretOptions
	readOnly    secretOptions
	requirePass secretOptions
	storage     storageOptions
	origins     []string
	gzip        bool
	aclFile     string
	backupDir   string
	conf        configFile
	printConfig bool
	cluster     bool
	stdio       bool // serve one connection on the standard streams
	existing    bool // with stdio: a missing file is an error
	json        bool
	timeout     flags.Interval
	grace       time.Duration
	limits      limitOptions
	tenants     tenantsOptions
	replicate   replicateOptions
}

// rowCacheBytes sets the size of the row cache in bytes.
const rowCacheBytes = 32 << 20

func newServe(s *streams) *cobra.Command {
	o := &serveOptions{grace: 5 * time.Second, timeout: flags.Interval(10 * time.Second)}
	cmd := &cobra.Command{
		Use:     "serve [FLAGS] [TARGET]",
		GroupID: groupUse,
		Short:   "Serve a file over Upstash's REST and the Redis protocol",
		Long: `Serves a file to programs: to Upstash's SDKs over HTTP, and to any Redis client
over RESP. Without an address it serves both, on 127.0.0.1:8379 and
127.0.0.1:6379. A write is in the file before its reply is sent.

REST clients send MEOWDIS_TOKEN; without it, a token is generated and printed.
RESP clients AUTH with MEOWDIS_REQUIREPASS; without it, only clients on this
machine are accepted. "meowdis serve --print-config" explains each flag, in a
file for --config.`,
		Example: `  meowdis serve cats.sqlite --resp 6380 --resp unix:/run/meowdis.sock
  MEOWDIS_TOKEN=$(cat secret) meowdis serve cats.sqlite --http 0.0.0.0:8080
  meowdis serve cats.sqlite --replicate s3://bucket/cats`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.target.Argument(args); err != nil {
				return err
			}
			if err := o.readConfig(cmd.Flags()); err != nil {
				return err
			}
			if o.printConfig {
				return printConfig(s.out, cmd.Flags())
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	o.addresses.addFlags(f)
	o.tls.addFlags(f)
	o.log.addFlags(f)
	o.token.addFlags(f, "token", "`TOKEN` that REST clients must send")
	o.readOnly.addFlags(f, "read-only-token", "`TOKEN` of REST clients that only read")
	o.requirePass.addFlags(f, "requirepass", "`PASSWORD` that RESP clients must send")
	o.storage.addFlags(f)
	f.StringVar(&o.aclFile, "aclfile", "", "`FILE` with users and their permissions, which ACL SAVE writes")
	f.StringArrayVar(&o.origins, "cors-origin", nil, "`ORIGIN` of web pages that may use REST in a browser; * for all")
	f.BoolVar(&o.gzip, "gzip", false, "compress REST replies of 1 KB and more for clients that accept it")
	f.StringVar(&o.backupDir, "backup-dir", "", "`DIR` for the copies of SAVE and BGSAVE")
	f.BoolVar(&o.json, "json", false, "print the addresses and the token as one line of JSON")
	f.BoolVar(&o.cluster, "cluster", false, "reply to CLUSTER as a cluster of one node")
	f.BoolVar(&o.stdio, "stdio", false, "serve one connection on stdin and stdout, as ssh://HOST/FILE does")
	f.BoolVar(&o.existing, "existing", false, "with --stdio: a missing file is an error")
	f.Lookup("stdio").Hidden, f.Lookup("existing").Hidden = true, true
	f.StringVar(&o.conf.path, "config", "", "`FILE` with parameters, as redis.conf has them")
	f.BoolVar(&o.printConfig, "print-config", false, "print a commented configuration file with the given flags")
	o.limits.addFlags(f)
	o.tenants.addFlags(f)
	o.replicate.addFlags(f)
	o.target.AddFileFlags(cmd, "to serve; :memory: keeps nothing")
	o.target.AddStorageFlags(cmd)
	f.BoolVar(&o.target.Full, "full", false, "commits to the file survive a power cut (slower)")
	f.Var(&o.timeout, "timeout", "fail a command without effect after `DURATION`; if given, a script, too; 0: no limit")
	flags.Alias(f, "time-limit", "timeout")
	f.BoolVarP(&o.target.Verbose, "verbose", "v", false, "print the served file on stderr")
	return cmd
}

// secrets sets the tokens and the password in c. Each comes from its flag, its file or the environment.
func (o *serveOptions) secrets(s *streams, c *server.Config) error {
	variables, err := o.target.Variables()
	if err != nil {
		return err
	}
	for _, secret := range []struct {
		to       *string
		from     *secretOptions
		variable string
	}{
		{&c.Token, &o.token, "MEOWDIS_TOKEN"},
		{&c.ReadOnlyToken, &o.readOnly, "MEOWDIS_READ_ONLY_TOKEN"},
		{&c.RequirePass, &o.requirePass, "MEOWDIS_REQUIREPASS"},
		{&c.Storage.Token, &o.storage.token, "MEOWDIS_STORAGE_TOKEN"},
		{&c.Storage.ReadOnlyToken, &o.storage.readOnly, "MEOWDIS_STORAGE_READ_ONLY_TOKEN"},
	} {
		if *secret.to, err = secret.from.read(cmp.Or(variables[secret.variable], s.getenv(secret.variable))); err != nil {
			return err
		}
	}
	return nil
}

func (o *serveOptions) run(ctx context.Context, s *streams) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // SHUTDOWN calls stop, too
	defer stop()
	context.AfterFunc(ctx, stop) // then a second signal ends the process at once
	if err := errors.Join(o.limits.check(), o.replicate.check(len(o.addresses.storage)+len(o.addresses.storageTLS) > 0)); err != nil {
		return err
	}
	logger, err := o.log.logger(s.err)
	if err != nil {
		return err
	}
	if o.stdio {
		return o.serveStdio(ctx, stop, s, logger)
	}
	if o.tenants.dir != "" {
		return o.serveTenants(ctx, stop, s, logger)
	}
	config, err := o.config(s, logger)
	if err != nil {
		return err
	}
	o.target.Secret = config.Storage.Token
	t, err := o.target.FileOrStorage(s.getenv)
	if err != nil {
		return err
	}
	if t.Settings.ReadOnly {
		return refusedWith(ctx, s, "READONLY clients of a server may write, and profile "+t.Profile+" is read-only")
	}
	o.target.Announce(t, s.err)
	config.Stop = stop
	b, err := o.openBackend(ctx, s, t, &config, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	made := ""
	if config.Token == "" {
		made = rand.Text()
		config.Token = made
	}
	faces, srv, err := o.open(s, config)
	if err != nil {
		return err
	}
	o.announce(s.out, faces, made)
	if b.file != nil {
		go store.Guard(logging.Panic(logger), func() { watchFile(ctx, b.file, logger) })
	}
	return o.serve(ctx, srv, faces, b.ends, logger)
}

// config returns the server's configuration of the flags and the environment.
func (o *serveOptions) config(s *streams, logger *slog.Logger) (server.Config, error) {
	config := server.Config{
		Origins:       o.origins,
		Gzip:          o.gzip,
		ACLFile:       o.aclFile,
		ConfigFile:    o.conf.path,
		Cluster:       o.cluster,
		TimeLimit:     time.Duration(o.timeout),
		LimitScripts:  o.target.Flags.Changed("timeout") || o.tenants.dir != "",
		Grace:         o.grace + time.Second, // time for the error reply to a command that was given up
		PublicMessage: local.PublicMessage,
		Logger:        logger,
	}
	o.limits.apply(&config, s.getenv)
	if err := o.secrets(s, &config); err != nil {
		return config, err
	}
	if config.RequirePass != "" {
		o.conf.except = append(o.conf.except, "requirepass")
	}
	return config, nil
}

// open creates the server and its listeners.
func (o *serveOptions) open(s *streams, config server.Config) ([]endpoint, *server.Server, error) {
	o.storage.generateToken(&config)
	srv := server.New(config)
	if err := o.conf.configure(srv); err != nil {
		return nil, nil, err
	}
	if err := srv.LoadUsers(); err != nil {
		return nil, nil, fmt.Errorf("reading the users: %w", err)
	}
	secure, err := o.tls.load(s, config.Logger)
	if err != nil {
		return nil, nil, err
	}
	faces, err := o.addresses.listen(srv, secure)
	if err == nil {
		if err = o.storage.check(faces); err != nil {
			closeAll(faces)
		}
	}
	return faces, srv, err
}

// serveResult defines the JSON output of serve.
type serveResult struct {
	Listeners []listenerResult `json:"listeners"`
	// The generated tokens.
	Token        string `json:"token,omitempty"`
	StorageToken string `json:"storage_token,omitempty"`
}

type listenerResult struct {
	Protocol string `json:"protocol"`
	URL      string `json:"url"`
}

// announce prints the addresses and a generated token in one write: another program may be waiting for them.
func (o *serveOptions) announce(out io.Writer, faces []endpoint, token string) {
	var told serveResult
	var lines strings.Builder
	for _, f := range faces {
		told.Listeners = append(told.Listeners, listenerResult{f.name, f.url()})
		fmt.Fprintf(&lines, "%s %s\n", f.name, f.url())
		if token != "" && f.name == "REST" && told.Token == "" {
			told.Token = token
			fmt.Fprintf(&lines, "token %s\n", token)
		}
		if f.name == storageEndpoint {
			told.StorageToken = cmp.Or(told.StorageToken, o.storage.generated)
		}
		o.storage.line(&lines, f)
	}
	if o.json {
		move.WriteJSON(out, told)
		return
	}
	io.WriteString(out, lines.String())
}

// abandoner gives up running requests and counts them.
type abandoner interface {
	Abandon()
	Abandoned() int64
}

// serve serves until ctx is done. Requests that wait for another process then have o.grace to finish before they are
// given up. file is nil for a storage that cannot give up requests.
func (o *serveOptions) serve(ctx context.Context, srv *server.Server, faces []endpoint, file abandoner, logger *slog.Logger) error {
	go store.Guard(logging.Panic(logger), func() { tellSystemd(ctx, srv, logger) })
	done := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		select {
		case <-done:
		case <-time.After(o.grace):
			if file != nil {
				file.Abandon()
			}
			srv.EndScripts()
		}
	})()
	err := serveAll(ctx, faces)
	close(done)
	if file != nil && file.Abandoned() > 0 {
		logger.Warn("gave up unfinished requests", "requests", file.Abandoned(), "after", o.grace)
	}
	return err
}

// watchFile logs when the file is moved or deleted, and when it is back.
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
		if errors.Is(err, local.ErrWALGone) {
			err = file.RepairWAL(ctx)
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

// serveAll serves until ctx is done or one of the faces fails, which stops the other faces.
func serveAll(ctx context.Context, faces []endpoint) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error)
	for _, f := range faces {
		go func() {
			err := store.Caught(func() error { return f.serve(ctx, f.listener) })
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

// serveGroups returns the groups of serve's flags, for its help and its configuration file.
func serveGroups() []flagGroup {
	return []flagGroup{
		{title: "Addresses", names: []string{"http", "https", "resp", "resp-tls", "metrics", "storage", "storage-tls", "socket-mode", "cors-origin", "gzip", "cluster"}},
		{title: "Secrets", names: []string{
			"token", "token-file", "read-only-token", "read-only-token-file", "requirepass", "requirepass-file", "aclfile",
			"storage-token", "storage-token-file", "storage-read-only-token", "storage-read-only-token-file", "storage-cacert"}},
		{title: "TLS", names: []string{"tls-cert", "tls-key", "tls-ca", "tls-auth-clients", "tls-self-signed"}},
		{title: "Limits", names: []string{"timeout", "max-clients", "max-request-memory", "max-memory", "write-timeout"}},
		{title: "Saving", names: []string{"full", "backup-dir", "replicate", "replicate-every", "replicate-keep", "sync-replicate", "lease", "follow", "promote-after"}},
		{title: "Tenants", names: []string{"tenants", "tenants-open"}},
		{title: "Log", names: []string{"log-format", "log-level", "verbose"}},
	}
}
