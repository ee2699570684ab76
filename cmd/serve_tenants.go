package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"

	"github.com/spf13/pflag"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server/tenants"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/logging"
)

// tenantsOptions holds the flags of a server with tenants.
type tenantsOptions struct {
	dir  string
	open int
}

func (o *tenantsOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.dir, "tenants", "", "`DIR` with a database for each tenant, instead of a file")
	f.IntVar(&o.open, "tenants-open", tenants.DefaultOpen, "keep at most `NUMBER` files of tenants open")
}

// registryCacheBytes sets the size of the registry's row cache in bytes.
const registryCacheBytes = 8 << 20

// serveTenants implements run for a server with tenants. The server's own database is their registry.
func (o *serveOptions) serveTenants(ctx context.Context, stop func(), s *streams, logger *slog.Logger) (err error) {
	switch {
	case o.target.Spec != "" || o.target.Flags.Changed("db") || o.target.Flags.Changed("profile") || o.target.Flags.Changed("storage-url"):
		return exit.Usagef("--tenants DIR replaces the file: give only one of them")
	case o.aclFile != "" || o.backupDir != "" || o.conf.path != "" || o.cluster || o.readOnly.value+o.readOnly.file != "":
		return exit.Usagef("--aclfile, --backup-dir, --config, --cluster and --read-only-token do not work with --tenants")
	case o.replicate.to != "" || o.replicate.follow != "":
		return exit.Usagef("--replicate and --follow do not work with --tenants")
	case o.tenants.open < 1:
		return exit.Usagef("--tenants-open must be more than 0")
	}
	config, err := o.config(s, logger)
	if err != nil {
		return err
	}
	config.ReadOnlyToken = ""
	each := config
	each.Token, each.RequirePass, each.MaxMemory = "", "", config.MaxMemory/4
	each.MaxRequestMemory = min(config.MaxRequestMemory, each.MaxMemory)
	house, err := tenants.Open(o.tenants.dir, tenants.Config{
		Server: each, Open: o.tenants.open, Full: o.target.Full,
		Registry: local.Options{SyncFull: o.target.Full, IsolateSlowReads: true, RowCacheBytes: registryCacheBytes, Report: logging.Errors(logger, "maintaining the list of tenants")},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, house.Close()) }()
	config.Engine, config.Enter, config.Tenants = house.Engine(), house.Enter, house.Figures
	config.Writable, config.Save, config.Stop = house.RegistryStore().Moved, func(context.Context) error { return house.RegistryStore().Sync() }, stop
	if config.RequirePass == "" {
		config.RequirePass = rand.Text() // a random password refuses clients that are not tenants
	}
	faces, srv, err := o.open(s, config)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(faces, func(f endpoint) bool { return f.name == storageEndpoint }) {
		closeAll(faces)
		return exit.Usagef("--storage does not work with --tenants")
	}
	house.Serve(srv)
	o.announce(s.out, faces, "")
	go store.Guard(logging.Panic(logger), func() { watchFile(ctx, house.RegistryStore(), logger) })
	return o.serve(ctx, srv, faces, house, logger)
}
