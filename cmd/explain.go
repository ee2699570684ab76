package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/complete"
	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/commands"
	"github.com/meowdis/meowdis/redis/resp"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/translator"
)

// explainOptions holds the flags and arguments of explain.
type explainOptions struct {
	target targets.Options
	json   bool
	args   []string
}

func newExplain(s *streams) *cobra.Command {
	o := &explainOptions{}
	cmd := &cobra.Command{
		Use:     "explain [FLAGS] [TARGET] COMMAND [ARG...]",
		GroupID: groupInspect,
		Short:   "Show the SQL a command runs, without running it",
		Long: `Shows the SQL statements of a command, their arguments, and SQLite's query plan
for each. Nothing is written: it runs only the reading steps of a command, and
rolls back the transaction of a script.`,
		Example: `  meowdis explain SET greeting hello EX 60
  meowdis explain cats.sqlite --json INCR visits`,
		ValidArgsFunction: complete.AfterTarget(&o.target, "COMMAND", complete.Commands),
		RunE: func(cmd *cobra.Command, args []string) error {
			own, err := ownArgs(cmd, &o.target, args, targets.Own{What: "COMMAND", Least: 1, Most: -1})
			if err != nil {
				return err
			}
			o.args = own
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.BoolVar(&o.json, "json", false, "print JSON")
	o.target.AddFileFlags(cmd, "to plan the queries on")
	f.IntVarP(&o.target.Database, "database", "n", 0, "database `NUMBER`")
	return cmd
}

// explanation holds the output of explain.
type explanation struct {
	Command    []string        `json:"command"`
	Kind       string          `json:"kind"`
	Reply      string          `json:"reply,omitempty"`
	Steps      int             `json:"steps"`
	Calls      []string        `json:"calls,omitempty"`      // of a script
	More       int             `json:"more_calls,omitempty"` // not listed
	Waits      bool            `json:"waits,omitempty"`      // the client blocks if the reply would be null
	Statements []explainedStmt `json:"statements"`

	where string // the file whose data decides the steps, in the text output
}

// The kinds of explanation.
const (
	kindAnswer          = "answer"            // no SQL: the reply is known
	kindRead            = "read"              // one batch that only reads
	kindWrite           = "write"             // one atomic batch that writes
	kindReadModifyWrite = "read-modify-write" // several steps; Reply is set if it is known before the last
	kindSession         = "session"           // about the connection or the server, not the data
	kindScript          = "script"            // the calls of a script, in one transaction
)

type explainedStmt struct {
	Step      int      `json:"step"`           // from 1
	Call      int      `json:"call,omitempty"` // of the script's, from 1
	SQL       string   `json:"sql"`
	Args      []string `json:"args"`
	Plan      []string `json:"plan"`
	Refused   string   `json:"refused,omitempty"` // the reply if a constraint refuses it
	Skippable bool     `json:"moot,omitempty"`    // skipped if the statements before it left nothing to do
}

func (o *explainOptions) run(ctx context.Context, s *streams) (err error) {
	args := make([][]byte, len(o.args))
	for i, a := range o.args {
		args[i] = []byte(a)
	}
	t, err := o.target.File(s.getenv)
	if err != nil {
		return err
	}
	x := explainer{path: t.Path, db: o.target.DatabaseOf(t)}
	defer func() { err = errors.Join(err, x.close()) }()
	e, bad, err := x.explain(ctx, args)
	switch {
	case err != nil:
		return err
	case bad.IsError():
		p := formatOptions{output: formatTyped}
		if o.json {
			p.output = formatJSON
		}
		if _, err := s.screen.Write(p.printer(s).append(nil, args, bad)); err != nil {
			return err
		}
		suggest(s.err, args, bad)
		return exit.ErrReported
	case o.json:
		return printJSON(s.out, e)
	}
	return e.print(s.out)
}

// explainer explains commands on a file, which it opens at first use.
type explainer struct {
	path  string
	db    int
	file  *local.Store
	empty bool // an empty database replaces the missing file

	scripts *local.Store // the file as opened for scripts, which may write until the rollback
}

// explain translates the command. bad is the error reply to a command that is refused before translation.
func (x *explainer) explain(ctx context.Context, args [][]byte) (e explanation, bad resp.Value, err error) {
	command, bad := commands.Find(args)
	if command == nil {
		return e, bad, nil
	}
	e = explanation{Command: []string{}, Kind: kindSession, Statements: []explainedStmt{}}
	for _, arg := range args {
		e.Command = append(e.Command, string(arg))
	}
	if !translator.Translates(command) {
		if engine.RunsScripts(command) {
			return x.explainScript(ctx, e, args)
		}
		return e, bad, nil
	}
	// Real calls draw a random seed; the statements are the same for any.
	env := translator.Env{Now: time.Now().UnixMilli(), DB: x.db}
	plan := translator.Translate(command, args, env)
	_, e.Waits = translator.BlockingWait(command, args, env)
	switch {
	case len(plan.Batch.Stmts) == 0:
		e.Kind, e.Reply = kindAnswer, string(resp.AppendTyped(nil, plan.Reply, true))
		return e, bad, nil
	case plan.Then != nil:
		e.Kind = kindReadModifyWrite
	case plan.Batch.ReadOnly:
		e.Kind = kindRead
	default:
		e.Kind = kindWrite
	}
	if err := x.open(); err != nil {
		return e, bad, err
	}
	e.where = x.where()
	err = x.file.Transact(ctx, true, func(run engine.Run) error { return e.explainSteps(run, plan) })
	return e, bad, err
}

// explainSteps explains the steps of plan. It runs the reading steps with run.
func (e *explanation) explainSteps(run engine.Run, plan translator.Plan) error {
	e.Steps, e.Statements = 0, e.Statements[:0]
	answer, err := engine.Rehearse(run, plan, func(p translator.Plan) error {
		e.Steps++
		for _, stmt := range p.Batch.Stmts {
			shown, err := explainStmt(run, stmt)
			if err != nil {
				return err
			}
			shown.Step = e.Steps
			e.Statements = append(e.Statements, shown)
		}
		return nil
	})
	if answer != nil {
		e.Reply = string(resp.AppendTyped(nil, *answer, true))
	}
	return err
}

// where names the data that decides the steps.
func (x *explainer) where() string {
	switch {
	case x.path == "":
		return "the file"
	case x.empty && x.path != local.Memory:
		return "an empty database, because " + x.path + " does not exist"
	case x.empty:
		return "an empty database"
	}
	return x.path
}

// open opens the file for reading. An empty database replaces a missing file.
func (x *explainer) open() error {
	if x.file != nil {
		return nil
	}
	path, options := x.path, local.Options{ReadOnly: true}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || path == local.Memory {
		path, options, x.empty = local.Memory, local.Options{SweepEvery: noSweep}, true
	}
	file, err := local.Open(path, options)
	x.file = file
	return err
}

func (x *explainer) close() (err error) {
	if x.scripts != nil && x.scripts != x.file {
		err = x.scripts.Close()
	}
	if x.file != nil {
		err = errors.Join(err, x.file.Close())
	}
	return err
}

func explainStmt(run engine.Run, stmt store.Stmt) (explainedStmt, error) {
	shown := explainedStmt{SQL: oneIndent(stmt.SQL), Args: []string{}, Plan: []string{}, Skippable: stmt.SkipIf != nil}
	for _, a := range stmt.Args {
		shown.Args = append(shown.Args, literal(a))
	}
	if stmt.Refused != nil {
		shown.Refused = string(resp.AppendTyped(nil, *stmt.Refused, true))
	}
	if !hasPlan(stmt.SQL) {
		return shown, nil
	}
	ask := store.Stmt{SQL: "EXPLAIN QUERY PLAN " + stmt.SQL, Args: stmt.Args}
	r, err := run(store.Batch{Stmts: []store.Stmt{ask}, ReadOnly: true})
	if err != nil {
		return shown, fmt.Errorf("reading the plan of %q: %w", stmt.SQL, err)
	}
	depth := map[int64]int{}
	for _, row := range r.Rows[0] {
		id, parent := row[0].Int(), row[1].Int()
		depth[id] = depth[parent] + 1
		shown.Plan = append(shown.Plan, strings.Repeat("  ", depth[parent])+string(row[3].Bytes()))
	}
	return shown, nil
}

// hasPlan reports whether SQLite has a query plan for a statement. CREATE and DROP have none, and a CREATE cannot be
// prepared while its table exists.
func hasPlan(sql string) bool {
	sql = strings.TrimSpace(sql)
	return !strings.HasPrefix(sql, "CREATE ") && !strings.HasPrefix(sql, "DROP ")
}

// oneIndent replaces the indentation of the source code by two spaces.
func oneIndent(sql string) string {
	lines := strings.Split(strings.TrimSpace(sql), "\n")
	for i := range lines[1:] {
		lines[i+1] = "  " + strings.TrimSpace(lines[i+1])
	}
	return strings.Join(lines, "\n")
}

// shortened cuts an argument that is too long to show: some steps write whole documents.
func shortened(literal string) string {
	const most = 1000
	if len(literal) <= most {
		return literal
	}
	return fmt.Sprintf("%s… (%d characters)", strings.ToValidUTF8(literal[:most], ""), len(literal))
}

// literal formats v as a SQL literal, followed by its text if the bytes are printable.
func literal(v store.Value) string {
	text := v.String()
	if v.Kind() != store.Blob {
		return text
	}
	if quoted := resp.AppendQuoted(nil, v.Bytes(), true); !bytes.Contains(quoted, []byte(`\x`)) {
		text += " " + string(quoted)
	}
	return text
}

func (e explanation) print(w io.Writer) error {
	var b strings.Builder
	e.printKind(&b)
	for i, s := range e.Statements {
		switch {
		case s.Call > 0 && (i == 0 || s.Call > e.Statements[i-1].Call):
			fmt.Fprintf(&b, "\n%s\n", e.Calls[s.Call-1])
		case i > 0 && s.Step > e.Statements[i-1].Step && s.Call == 0:
			fmt.Fprintf(&b, "\nThen, with the data in %s:\n", e.where)
		}
		fmt.Fprintf(&b, "\n%d. ", i+1)
		s.print(&b)
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\nand makes %d more calls.\n", e.More)
	}
	if e.Kind == kindScript {
		fmt.Fprintf(&b, "\nThe reply is:\n%s\n", e.Reply)
	}
	if e.Kind == kindReadModifyWrite && e.Reply != "" {
		fmt.Fprintf(&b, "\nThen, with the data in %s, the reply is known:\n%s\n", e.where, e.Reply)
	}
	if e.Waits {
		b.WriteString("\nIf the reply is null, the client waits until a key changes or the timeout ends.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printKind prints the line above the statements, and the reply if it is known without any.
func (e explanation) printKind(b *strings.Builder) {
	switch e.Kind {
	case kindSession:
		switch strings.ToUpper(e.Command[0]) {
		case "MULTI":
			b.WriteString("No SQL: the commands that follow are queued until EXEC.\n")
		case "EXEC":
			b.WriteString("No SQL of its own: the queued commands run in one transaction.\n")
		default:
			b.WriteString("No SQL: the command concerns the connection or the server.\n")
		}
	case kindScript:
		if len(e.Calls) == 0 {
			b.WriteString("No SQL: it calls no command.\n")
			break
		}
		fmt.Fprintf(b, "Runs in one transaction. With the data in %s it calls:\n", e.where)
	case kindAnswer:
		fmt.Fprintf(b, "No SQL: the reply is known.\n%s\n", e.Reply)
	case kindRead:
		b.WriteString("Reads from one snapshot:\n")
	case kindWrite:
		b.WriteString("Takes effect as a whole or not at all:\n")
	case kindReadModifyWrite:
		b.WriteString("Reads first; the next step depends on the rows, in the same transaction:\n")
	}
}

// print prints the statement below its number.
func (s explainedStmt) print(b *strings.Builder) {
	fmt.Fprintf(b, "%s\n", strings.ReplaceAll(s.SQL, "\n", "\n   "))
	for n, a := range s.Args {
		fmt.Fprintf(b, "   ?%d = %s\n", n+1, shortened(a))
	}
	for _, p := range s.Plan {
		fmt.Fprintf(b, "   plan: %s\n", p)
	}
	if s.Skippable {
		b.WriteString("   runs only if the statements before it left something to do\n")
	}
	if s.Refused != "" {
		fmt.Fprintf(b, "   if a constraint refuses it: %s\n", s.Refused)
	}
}
