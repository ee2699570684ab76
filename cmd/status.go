package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/resp"
	"github.com/meowdis/meowdis/schema"
)

// statusOptions are the flags and the argument of status.
type statusOptions struct {
	target targetOptions
	json   bool
}

func newStatus(s *streams) *cobra.Command {
	o := &statusOptions{}
	cmd := &cobra.Command{
		Use:     "status [FLAGS] [TARGET]",
		GroupID: groupLook,
		Short:   "Say which target is used, why, and whether it answers",
		Long: `Lists what can name the target, in order of precedence, and marks what does. Then
asks the target what it is. A target that does not answer is exit code 3; a file
that is not there yet is fine. Nothing is written.

` + targetHelp,
		Example: `  meowdis status
  meowdis status @prod
  meowdis status --json --url redis://localhost:6379`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeTargets(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.target.spec = args[0]
			}
			return o.run(cmd.Context(), s)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	o.target.addLookFlags(cmd)
	return cmd
}

// status is what is known of a target.
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
}

type shownCandidate struct {
	Source string `json:"source"`
	Given  string `json:"given"`
	Chosen bool   `json:"chosen"`
}

// The states of a target.
const (
	stateReachable = "reachable"
	stateMissing   = "missing" // a file that the first command makes
	stateFailed    = "failed"
)

func (o *statusOptions) run(ctx context.Context, s *streams) error {
	st, err := o.find(s)
	if err != nil {
		return err
	}
	t, err := o.target.resolve(s.getenv)
	if err == nil {
		err = o.ask(ctx, t, st)
	}
	if err != nil {
		st.State, st.Problem = stateFailed, err.Error()
	}
	if o.json {
		err = errors.Join(err, printJSON(s.out, st))
	} else {
		err = errors.Join(err, st.print(s.out))
	}
	return err
}

// find tells what names the target.
func (o *statusOptions) find(s *streams) (*status, error) {
	found, err := o.target.candidates(s.getenv)
	if err != nil {
		return nil, err
	}
	st := &status{}
	winner := o.target.winner(found)
	for i, c := range found {
		st.Candidates = append(st.Candidates, shownCandidate{c.source, c.given, i == winner})
	}
	return st, nil
}

// ask finds out about the target. It returns an error when the target fails.
func (o *statusOptions) ask(ctx context.Context, t target, st *status) error {
	st.Target, st.Profile, st.ReadOnly, st.Confirm = t.String(), t.profile, o.target.refusesWrites(t), "none"
	if t.profile != "" {
		st.Confirm = string(t.settings.Confirm.Level())
	}
	switch st.Kind = t.kind(); {
	case t.url == nil && t.path != local.Memory:
		if t.isNew() && o.target.canMake(t) {
			st.State = stateMissing
			return nil
		}
		if info, err := os.Stat(t.path); err == nil { // otherwise opening it says more
			size := info.Size() + logBytes(t.path)
			st.SizeBytes = &size
		}
	}
	began := time.Now()
	c, err := o.target.enter(ctx, t, local.Options{ReadOnly: t.path != local.Memory})
	if err != nil {
		return err
	}
	keys, err := c.Do(ctx, []byte("DBSIZE"))
	if err == nil && keys.IsError() {
		err = errors.New(string(keys.Str))
	}
	if err != nil {
		return errors.Join(err, c.close())
	}
	took := time.Since(began).Milliseconds()
	st.State, st.Millis, st.Keys, st.Database = stateReachable, &took, &keys.Int, c.DB()
	st.Version = fmt.Sprintf("meowdis %s, schema %d", versionName(), schema.Version)
	if t.url != nil {
		st.askServer(ctx, c)
	}
	return c.close()
}

// logBytes is the size of the log beside a file, which holds what the file will.
func logBytes(path string) int64 {
	info, err := os.Stat(path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// kind is what a target is, for people.
func (t target) kind() string {
	switch {
	case t.isREST():
		return "REST endpoint"
	case t.url != nil:
		return "Redis server"
	case t.path == local.Memory:
		return "memory"
	}
	return "SQLite file"
}

// askServer learns what a server tells of itself; one that does not is fine.
func (st *status) askServer(ctx context.Context, c *connection) {
	st.Version = ""
	v, err := c.Do(ctx, []byte("INFO"))
	if err != nil || v.IsError() {
		return
	}
	facts := infoFacts(v)
	if v := facts["redis_version"]; v != "" {
		st.Version = "Redis " + v
	}
	if _, ours := facts["meowdis"]; ours {
		st.Version = "meowdis, as " + st.Version
	}
	if n, err := strconv.ParseInt(facts["used_memory"], 10, 64); err == nil {
		st.SizeBytes = &n
	}
}

// infoFacts reads the lines of an INFO reply.
func infoFacts(v resp.Value) map[string]string {
	facts := map[string]string{}
	for _, line := range strings.Split(string(v.Str), "\n") {
		if name, fact, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			facts[name] = fact
		}
	}
	return facts
}

func (st *status) print(w io.Writer) error {
	var b strings.Builder
	b.WriteString("What can name the target, the first that is given wins:\n")
	for _, c := range st.Candidates {
		mark := " "
		if c.Chosen {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %-24s %s\n", mark, c.Source, firstOf(c.Given, "-"))
	}
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, value)
		}
	}
	b.WriteString("\n")
	fact("target", st.Target)
	fact("profile", st.Profile)
	fact("kind", st.Kind)
	switch st.State {
	case stateReachable:
		fact("reachable", fmt.Sprintf("yes, in %d ms", *st.Millis))
	case stateMissing:
		fact("reachable", "there is no such file yet; the first command makes it")
	default:
		fact("reachable", "no")
	}
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
	_, err := io.WriteString(w, b.String())
	return err
}
