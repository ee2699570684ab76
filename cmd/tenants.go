package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/server/tenants"
)

func newTenants(s *streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "tenants",
		GroupID: groupSetUp,
		Short:   "Manage tenants: a database and a token for each",
		Long: `A directory holds a SQLite file for each tenant, and the list of tenants,
tenants.sqlite. "meowdis serve --tenants DIR" serves them all: a client's token
chooses its database, and the client sees no other. You can change the list
while it is served. A token is printed once; the list stores only its SHA-256.`,
		Example: `  TOKEN=$(meowdis tenants add /var/lib/meowdis tom --max-size 100mb)
  meowdis serve --tenants /var/lib/meowdis
  redis-cli -a $TOKEN SET greeting hello
  meowdis tenants change /var/lib/meowdis tom --new-token
  meowdis tenants remove /var/lib/meowdis tom`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args)
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newTenantsAdd(s), newTenantsList(s), newTenantsChange(s), newTenantsRemove(s))
	return cmd
}

// tenantOptions holds the arguments of the tenants verbs, and the flags of limits.
type tenantOptions struct {
	dir, name string
	size      byteSize
	clients   int
}

func (o *tenantOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().Var(&o.size, "max-size", "limit the data to `SIZE`; a write that needs more is refused")
	cmd.Flags().IntVar(&o.clients, "max-clients", 0, "accept at most `NUMBER` connections, and REST requests at once")
}

// with opens the registry of the directory and calls do.
func (o *tenantOptions) with(args []string, make bool, do func(*tenants.Registry) error) (err error) {
	o.dir = args[0]
	if len(args) > 1 {
		o.name = args[1]
	}
	if o.clients < 0 {
		return exit.Usagef("--max-clients %d: give 0 or more", o.clients)
	}
	book, err := tenants.OpenRegistry(o.dir, make, local.Options{SingleConn: true, SweepEvery: noSweep})
	if err != nil {
		return err
	}
	err = errors.Join(do(book), book.Close())
	if errors.Is(err, tenants.ErrNoTenant) {
		err = fmt.Errorf("%w: %s", err, o.name)
	}
	return err
}

func newTenantsAdd(s *streams) *cobra.Command {
	o := &tenantOptions{}
	cmd := &cobra.Command{
		Use:   "add DIR NAME [FLAGS]",
		Short: "Add a tenant, and print its token",
		Long: `Adds a tenant with an empty database, and prints its token. The first tenant
creates the directory. NAME is the name in "AUTH NAME TOKEN"; the file has
another name. Without --max-size and --max-clients the server's limits apply.`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(args, true, func(b *tenants.Registry) error {
				token, err := b.Add(cmd.Context(), o.name, tenants.Limits{Bytes: int64(o.size), Clients: o.clients})
				if err == nil {
					_, err = fmt.Fprintln(s.out, token)
				}
				return err
			})
		},
	}
	o.addFlags(cmd)
	return cmd
}

func newTenantsChange(s *streams) *cobra.Command {
	o, anew, unlimited := &tenantOptions{}, false, false
	cmd := &cobra.Command{
		Use:   "change DIR NAME [FLAGS]",
		Short: "Change the token or the limits of a tenant",
		Long: `--new-token generates another token and prints it; connections that used the old
one are closed. New limits apply at once; existing connections are kept.`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			size, clients := cmd.Flags().Changed("max-size"), cmd.Flags().Changed("max-clients")
			if !anew && !size && !clients && !unlimited {
				return exit.Usagef("nothing to change: give --new-token, --max-size, --max-clients or --no-limits")
			}
			return o.with(args, false, func(b *tenants.Registry) error {
				token, err := b.Change(cmd.Context(), o.name, anew, func(l *tenants.Limits) {
					if unlimited {
						*l = tenants.Limits{}
					}
					if size {
						l.Bytes = int64(o.size)
					}
					if clients {
						l.Clients = o.clients
					}
				})
				if err == nil && anew {
					_, err = fmt.Fprintln(s.out, token)
				}
				return err
			})
		},
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&anew, "new-token", false, "generate another token and print it; the old one becomes invalid")
	cmd.Flags().BoolVar(&unlimited, "no-limits", false, "remove the limits that no flag sets")
	return cmd
}

// shownTenant defines the output of list.
type shownTenant struct {
	Name       string    `json:"name"`
	Bytes      int64     `json:"bytes"`
	MaxBytes   int64     `json:"max_bytes"`
	MaxClients int       `json:"max_clients"`
	Made       time.Time `json:"made"`
	File       string    `json:"file"`
}

func newTenantsList(s *streams) *cobra.Command {
	o, asJSON := &tenantOptions{}, false
	cmd := &cobra.Command{
		Use:   "list DIR [FLAGS]",
		Short: "List the tenants, with file sizes and limits",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(args, false, func(b *tenants.Registry) error { return o.list(cmd.Context(), s, b, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (o *tenantOptions) list(ctx context.Context, s *streams, b *tenants.Registry, asJSON bool) error {
	all, err := b.List(ctx)
	if err != nil {
		return err
	}
	shown := []shownTenant{}
	for _, t := range all {
		v := shownTenant{Name: t.Name, MaxBytes: t.Bytes, MaxClients: t.Clients, Made: t.Created.UTC(), File: b.Path(t), Bytes: -1}
		if info, err := os.Stat(v.File); err == nil {
			v.Bytes = info.Size()
		}
		shown = append(shown, v)
	}
	if asJSON {
		return printJSON(s.out, shown)
	}
	var lines strings.Builder
	for _, t := range shown {
		fmt.Fprintf(&lines, "%-20s  %9s", t.Name, sizeOr(t.Bytes, "no file"))
		if t.MaxBytes > 0 {
			fmt.Fprintf(&lines, " of %s", display.Bytes(t.MaxBytes))
		}
		if t.MaxClients > 0 {
			fmt.Fprintf(&lines, ", %d clients", t.MaxClients)
		}
		fmt.Fprintf(&lines, "  %s\n", t.File)
	}
	_, err = s.screen.Write([]byte(lines.String()))
	return err
}

func sizeOr(n int64, none string) string {
	if n < 0 {
		return none
	}
	return display.Bytes(n)
}

func newTenantsRemove(s *streams) *cobra.Command {
	o, yes := &tenantOptions{}, false
	cmd := &cobra.Command{
		Use:   "remove DIR NAME [FLAGS]",
		Short: "Remove a tenant with its data",
		Long: `Removes a tenant, its token and its file. Its connections are closed, even while
"meowdis serve" runs. On a terminal it asks for the name first.`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(args, false, func(b *tenants.Registry) error {
				if !yes {
					if err := o.confirm(cmd.Context(), s); err != nil {
						return err
					}
				}
				return b.Remove(cmd.Context(), o.name)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirm asks the user before a tenant is removed.
func (o *tenantOptions) confirm(ctx context.Context, s *streams) error {
	if !s.inTerminal {
		return refusedWith(ctx, s, "CONFIRM removing "+o.name+" deletes its data and needs confirmation, and stdin is not a terminal: give --yes")
	}
	fmt.Fprintf(s.err, "This deletes the data of %s in %s. Type %[1]s to remove it: ", o.name, o.dir)
	line, err := bufio.NewReader(s.input(ctx)).ReadString('\n')
	if err != nil {
		fmt.Fprintln(s.err) // ends the line of the question
	}
	if strings.TrimSpace(line) == o.name {
		return nil
	}
	return refusedWith(ctx, s, "CONFIRM not confirmed: nothing was removed")
}
