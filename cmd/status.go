package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/remote/cluster"
	"github.com/meowdis/meowdis/store/schema"
)

// statusOptions holds the flags and the argument of status.
type statusOptions struct {
	target targets.Options
	json   bool
	all    bool
}

func newStatus(s *streams) *cobra.Command {
	o := &statusOptions{}
	cmd := &cobra.Command{
		Use:     "status [FLAGS] [TARGET]",
		GroupID: groupInspect,
		Short:   "Show which target is used, why, and whether it responds",
		Long: `Shows where commands go, why, and whether that target responds; if not, the exit
code is 3. A file that does not exist yet is fine. Nothing is written.
--verbose also lists what a server can do, and what meowdis does otherwise.`,
		Example: `  meowdis status
  meowdis status @prod
  meowdis status --verbose rediss://cache.example
  meowdis status --json redis://localhost:6379`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.target.Argument(args); err != nil {
				return err
			}
			return o.run(cmd.Context(), s)
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "list all sources of the target, too")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	o.target.AddReadFlags(cmd)
	cmd.Flags().Lookup("verbose").Usage = "also list the abilities of a server"
	return cmd
}

// status defines the output of status.
type status struct {
	Candidates []shownCandidate `json:"candidates"`

	Target    string `json:"target"`
	Profile   string `json:"profile,omitempty"`
	Kind      string `json:"kind"`
	State     string `json:"state"`
	Problem   string `json:"problem,omitempty"`
	Version   string `json:"version,omitempty"`
	Millis    *int64 `json:"milliseconds,omitempty"`
	Database  int    `json:"database"`
	Keys      *int64 `json:"keys,omitempty"`
	SizeBytes *int64 `json:"bytes,omitempty"`
	Confirm   string `json:"confirm"`
	ReadOnly  bool   `json:"read_only"`

	Nodes     []cluster.Node     `json:"nodes,omitempty"` // of a cluster
	Lease     *statusLease       `json:"lease,omitempty"` // of a server with serve --replicate or --promote-after
	Abilities []keyspace.Ability `json:"abilities,omitempty"`
}

// statusLease defines the output about a lease.
type statusLease struct {
	Role     string `json:"role"`
	Fence    int64  `json:"fence"`
	Holder   string `json:"holder"`
	EndsInMS int64  `json:"ends_in_ms"`
	Failover bool   `json:"failover"`
	Error    string `json:"error,omitempty"`
}

// line describes the lease.
func (l *statusLease) line() string {
	if l.Error != "" {
		return "writes are refused: " + l.Error
	}
	role, then := "writer", "no standby"
	if l.Role != "master" {
		role = "standby"
	}
	if l.Failover {
		then = "a standby takes over when it ends"
	}
	return fmt.Sprintf("%s; %s has it, fencing number %d, ends in %.1f s unless renewed; %s", role, l.Holder, l.Fence, float64(l.EndsInMS)/1000, then)
}

// leaseFacts returns the lease of INFO's fields, or nil.
func leaseFacts(facts map[string]string) *statusLease {
	fence, err := strconv.ParseInt(facts["lease_fence"], 10, 64)
	if err != nil {
		return nil
	}
	ends, _ := strconv.ParseInt(facts["lease_ends_in_ms"], 10, 64)
	return &statusLease{facts["role"], fence, facts["lease_holder"], ends, facts["lease_failover"] == "yes", facts["lease_error"]}
}

type shownCandidate struct {
	Source string `json:"source"`
	Given  string `json:"given"`
	Chosen bool   `json:"chosen"`
}

// The states of a target.
const (
	stateReachable = "reachable"
	stateMissing   = "missing" // a file that the first write creates
	stateFailed    = "failed"
)

func (o *statusOptions) run(ctx context.Context, s *streams) error {
	st, err := o.find(s)
	if err != nil {
		return err
	}
	t, err := o.target.Resolve(s.getenv)
	if err == nil {
		err = o.ask(ctx, t, st)
	}
	if err != nil {
		st.State, st.Problem = stateFailed, err.Error()
	}
	if o.json {
		err = errors.Join(err, printJSON(s.out, st))
	} else {
		err = errors.Join(err, st.print(s.out, o.all))
	}
	return err
}

// find lists the candidates for the target.
func (o *statusOptions) find(s *streams) (*status, error) {
	found, winner, err := o.target.Candidates(s.getenv)
	if err != nil {
		return nil, err
	}
	st := &status{}
	for i, c := range found {
		st.Candidates = append(st.Candidates, shownCandidate{c.Source, c.Given, i == winner})
	}
	return st, nil
}

// ask connects to the target and fills in st. It returns an error if the target fails.
func (o *statusOptions) ask(ctx context.Context, t targets.Target, st *status) error {
	st.Target, st.Profile, st.ReadOnly, st.Confirm = t.String(), t.Profile, o.target.RefusesWrites(t), "none"
	if t.Profile != "" {
		st.Confirm = string(t.Settings.Confirm.Level())
	}
	switch st.Kind = t.Kind(); {
	case t.URL == nil && t.Path != local.Memory:
		if t.IsNew() && o.target.CanMake(t) {
			st.State = stateMissing
			return nil
		}
		if info, err := os.Stat(t.Path); err == nil { // on an error Enter reports more
			size := info.Size() + logBytes(t.Path)
			st.SizeBytes = &size
		}
	}
	began := time.Now()
	c, err := o.target.Enter(ctx, t, local.Options{ReadOnly: t.Path != local.Memory})
	if err != nil {
		return err
	}
	keys, err := c.Do(ctx, []byte("DBSIZE"))
	if err == nil && keys.IsError() {
		err = errors.New(string(keys.Str))
	}
	if err != nil {
		return errors.Join(err, c.Close())
	}
	took := time.Since(began).Milliseconds()
	st.State, st.Millis, st.Keys, st.Database = stateReachable, &took, &keys.Int, c.DB()
	st.Version = fmt.Sprintf("meowdis %s, schema %d", versionName(), schema.Version)
	if t.IsServer() {
		st.askServer(ctx, c)
	}
	if o.target.Verbose && t.IsServer() {
		if st.Abilities, err = keyspace.Abilities(ctx, targets.Plain(c.Session)); err != nil {
			return errors.Join(err, c.Close())
		}
	}
	if s, is := targets.Plain(c.Session).(*cluster.Session); is {
		st.Kind = "Redis Cluster"
		st.Nodes = s.Nodes(ctx)
	}
	return c.Close()
}

// logBytes returns the size of the write-ahead log beside a file, 0 if it is missing.
func logBytes(path string) int64 {
	info, err := os.Stat(path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// askServer reads a server's version and memory. A server may refuse INFO.
func (st *status) askServer(ctx context.Context, c *targets.Conn) {
	st.Version = ""
	v, err := c.Do(ctx, []byte("INFO"))
	if err != nil || v.IsError() {
		return
	}
	facts := targets.InfoFacts(v)
	if v := facts["redis_version"]; v != "" {
		st.Version = "Redis " + v
	}
	if _, ours := facts["meowdis"]; ours {
		st.Version = "meowdis, as " + st.Version
	}
	st.Lease = leaseFacts(facts)
	if n, err := strconv.ParseInt(facts["used_memory"], 10, 64); err == nil {
		st.SizeBytes = &n
	}
}

// drawCluster lists the masters, each with its replicas.
func (st *status) drawCluster(b *strings.Builder) {
	masters := 0
	for _, n := range st.Nodes {
		if n.Master == "" {
			masters++
		}
	}
	fmt.Fprintf(b, "\n%d masters and %d replicas:\n", masters, len(st.Nodes)-masters)
	for _, n := range st.Nodes {
		switch {
		case n.Problem != "":
			fmt.Fprintf(b, "%-24s %s\n", n.Address, n.Problem)
		case n.Master == "":
			fmt.Fprintf(b, "%-24s master   %6d slots %10d keys %10s\n", n.Address, n.Slots, n.Keys, display.Bytes(n.Bytes))
		default:
			fmt.Fprintf(b, "  %-22s replica  %10s behind %5d keys %10s\n", n.Address, display.Bytes(n.Lag), n.Keys, display.Bytes(n.Bytes))
		}
	}
}

// listAbilities lists the abilities of the server, and how meowdis works without the missing ones.
func (st *status) listAbilities(b *strings.Builder) {
	if len(st.Abilities) == 0 {
		return
	}
	var has []string
	for _, a := range st.Abilities {
		if a.Has {
			has = append(has, a.Name)
		}
	}
	fmt.Fprintf(b, "\nThe server has %s.\n", strings.Join(has, ", "))
	for _, a := range st.Abilities {
		if !a.Has {
			fmt.Fprintf(b, "without    %s", a.Name)
			if a.Instead != "" {
				fmt.Fprintf(b, ": %s", a.Instead)
			}
			b.WriteString("\n")
		}
	}
}

func (st *status) print(w io.Writer, all bool) error {
	var b strings.Builder
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, value)
		}
	}
	fact("target", st.Target)
	for _, c := range st.Candidates {
		if c.Chosen {
			fact("chosen by", c.Source)
		}
	}
	switch st.State {
	case stateReachable:
		fact("reachable", fmt.Sprintf("yes, in %d ms", *st.Millis))
	case stateMissing:
		fact("reachable", "no such file yet; the first write creates it")
	default:
		fact("reachable", "no")
	}
	fact("profile", st.Profile)
	fact("kind", st.Kind)
	fact("version", st.Version)
	if st.Keys != nil {
		fact("keys", fmt.Sprintf("%d in database %d", *st.Keys, st.Database))
	}
	if st.SizeBytes != nil {
		fact("size", display.Bytes(*st.SizeBytes))
	}
	if st.Confirm != "" {
		fact("confirm", st.Confirm)
		fact("read-only", yesNo(st.ReadOnly))
	}
	if st.Lease != nil {
		fact("lease", st.Lease.line())
	}
	if len(st.Nodes) > 0 {
		st.drawCluster(&b)
	}
	st.listAbilities(&b)
	if all {
		b.WriteString("\nSources of the target; the first one given is used:\n")
		for _, c := range st.Candidates {
			mark := " "
			if c.Chosen {
				mark = "*"
			}
			fmt.Fprintf(&b, "%s %-24s %s\n", mark, c.Source, cmp.Or(c.Given, "-"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
