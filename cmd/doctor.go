package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/cmd/internal/flags"
	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/cmd/internal/targets"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/doctor"
	"github.com/meowdis/meowdis/store"
	"github.com/meowdis/meowdis/store/schema"
)

// doctorOptions holds the flags and arguments of doctor.
type doctorOptions struct {
	file     fileOptions
	fix      bool
	recover  string // path of the new file
	examples int
	args     []string

	examplesGiven bool
}

func newDoctor(s *streams) *cobra.Command {
	o := &doctorOptions{}
	cmd := &cobra.Command{
		Use:     "doctor [FLAGS] [TARGET]",
		GroupID: groupMaintain,
		Short:   "Check a file, and repair it with --fix",
		Long: `Checks the pages, indexes and tables of a file, and whether keys, elements and
counts are consistent. It writes nothing, and other processes can keep using the
file. The exit code is 1 after errors, which make replies wrong, and warnings.

--fix copies the file, repairs it in one transaction and checks it again.
--recover NEW copies the readable rows of a damaged file to a new file, and
lists the losses; first stop all processes that have the file open.`,
		Example: `  meowdis doctor cats.sqlite
  meowdis doctor --json cats.sqlite | jq .findings
  meowdis doctor --fix cats.sqlite
  meowdis doctor cats.sqlite --recover new.sqlite`,
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: targets.CompleteNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args, o.examplesGiven = args, cmd.Flags().Changed("limit")
			if cmd.Flags().Changed("recover") && o.recover == "" {
				return exit.Usagef("--recover is empty: name the new file")
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.fix, "fix", false, "repair the file, after a backup beside it")
	f.StringVar(&o.recover, "recover", "", "copy the readable rows of a damaged file to the new file `NEW`")
	f.IntVar(&o.examples, "limit", 3, "show at most `NUMBER` examples of each finding")
	flags.Alias(f, "examples", "limit")
	o.file.addFlags(cmd, true)
	return cmd
}

// diagnosis defines the output of doctor.
type diagnosis struct {
	File     string           `json:"file"`
	Healthy  bool             `json:"healthy"`
	Findings []doctor.Finding `json:"findings"`
	// Backup is the path of the copy made before a repair, and Before holds the findings of that moment.
	Backup string           `json:"backup,omitempty"`
	Before []doctor.Finding `json:"before,omitempty"`
}

func (o *doctorOptions) run(ctx context.Context, s *streams) (err error) {
	if o.examples < 0 {
		return exit.Usagef("--limit %d: give 0 or more", o.examples)
	}
	if o.fix && o.recover != "" {
		return exit.Usagef("give only one of --fix and --recover")
	}
	t, err := o.file.choose(s, o.args)
	if err != nil {
		return err
	}
	if o.recover != "" {
		return o.salvage(ctx, s, t.Path)
	}
	f, err := local.OpenFile(t.Path, !o.fix || o.file.target.RefusesWrites(t))
	if local.IsCorrupt(err) {
		for inner := err; inner != nil; inner = errors.Unwrap(inner) {
			err = inner // SQLite's own message, without the advice
		}
		return o.report(s.out, diagnosis{File: t.Path, Findings: []doctor.Finding{doctor.Damaged(err)}})
	}
	if err != nil {
		return err
	}
	defer func() { err = closeFile(err, f) }()
	d := diagnosis{File: f.Path()}
	if d.Findings, err = o.examine(s, f); err != nil {
		return err
	}
	if o.fix && canFix(d.Findings) {
		if err := o.file.confirmChange(ctx, s, t, "doctor --fix"); err != nil {
			return err
		}
		if err := o.fixAll(ctx, s, f, &d); err != nil {
			return err
		}
	}
	return o.report(s.out, d)
}

// fixAll repairs a file after a backup, and then examines it again.
func (o *doctorOptions) fixAll(ctx context.Context, s *streams, f *local.File, d *diagnosis) (err error) {
	d.Before, d.Backup = d.Findings, backupName(f.Path(), "before-fix")
	if err := o.repair(ctx, s, f, d.Backup); err != nil {
		return err
	}
	if err := buildIndexes(ctx, f.Path()); err != nil {
		return err
	}
	d.Findings, err = o.examine(s, f)
	return err
}

// buildIndexes indexes the keys that the indexes of search in the file at path lack.
func buildIndexes(ctx context.Context, path string) error {
	store, err := local.Open(path, local.Options{SweepEvery: noSweep, CacheBytes: writeCache})
	if err != nil {
		return err
	}
	return errors.Join(move.BuildIndexes(ctx, store), store.Close())
}

// report prints the diagnosis, and returns exit.ErrReported if it has an error or a warning.
func (o *doctorOptions) report(w io.Writer, d diagnosis) error {
	d.Healthy = !doctor.IsWrong(d.Findings)
	if err := o.print(w, d); err != nil {
		return err
	}
	if !d.Healthy {
		return exit.ErrReported
	}
	return nil
}

func canFix(findings []doctor.Finding) bool {
	for _, f := range findings {
		if f.Fix != "" {
			return true
		}
	}
	return false
}

// exam prepares an examination of f.
func (o *doctorOptions) exam(f *local.File) (e doctor.Exam, err error) {
	e = doctor.Exam{Query: f.Query, Now: time.Now().UnixMilli(), Examples: o.examples}
	if e.Version, err = f.SchemaVersion(); err != nil {
		return e, err
	}
	_, e.LogBytes, err = f.Size()
	if err != nil {
		return e, err
	}
	e.Tables, err = newTables()
	return e, err
}

// newTables returns the schema of a new file.
func newTables() (tables []doctor.Object, err error) {
	fresh, err := local.Open(local.Memory, local.Options{SweepEvery: noSweep})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	return doctor.ReadTables(func(sql string, args ...store.Value) ([]store.Row, error) {
		batch := store.Batch{Stmts: []store.Stmt{{SQL: sql, Args: args}}, ReadOnly: true}
		results, err := fresh.Apply(context.Background(), []store.Batch{batch})
		if err != nil {
			return nil, err
		}
		return results[0].Rows[0], nil
	})
}

// examine checks one snapshot of the file.
func (o *doctorOptions) examine(s *streams, f *local.File) (found []doctor.Finding, err error) {
	bar := newProgress(s, "examining", "checks", -1)
	defer bar.End()
	err = f.Snapshot(func() error {
		e, err := o.exam(f)
		e.Step = func(what string) { bar.Say("examining " + what) }
		switch {
		case errors.Is(err, local.ErrForeign):
			found, err = foreignFindings(f, e)
		case err == nil:
			found, err = e.Ours()
		}
		return err
	})
	if local.IsDamage(err) {
		return append(found, doctor.Damaged(err)), nil
	}
	return found, err
}

func foreignFindings(f *local.File, e doctor.Exam) ([]doctor.Finding, error) {
	tables, err := f.Tables()
	if err != nil {
		return nil, err
	}
	return e.Foreign(tables)
}

// repair backs the file up and repairs it. No other process can write between the two.
func (o *doctorOptions) repair(ctx context.Context, s *streams, f *local.File, backup string) error {
	return f.Change(func() error {
		e, err := o.exam(f)
		switch {
		case err != nil:
			return err
		case e.Version > schema.Version:
			return fmt.Errorf("opening %s: %w", f.Path(), local.NewerError(e.Version))
		case e.Version < schema.Version:
			return fmt.Errorf("opening %s: it has schema version %d, not %d: meowdis migrate brings it up to date", f.Path(), e.Version, schema.Version)
		}
		if err := backUp(ctx, f.Path(), backup); err != nil {
			return err
		}
		fmt.Fprintf(s.err, "the original file is saved as %s\n", backup)
		return e.Repair()
	})
}

// backUp copies a file that may be damaged, over a read-only connection.
func backUp(ctx context.Context, path, to string) (err error) {
	f, err := local.OpenFile(path, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Backup(ctx, to, local.BackupOptions{AsIs: true})
}

func (o *doctorOptions) print(w io.Writer, d diagnosis) error {
	if o.file.json {
		if d.Findings == nil {
			d.Findings = []doctor.Finding{}
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(d)
	}
	var b strings.Builder
	left := map[string]bool{}
	for _, f := range d.Findings {
		left[f.Check] = true
	}
	for _, f := range d.Before {
		if !left[f.Check] {
			writeFinding(&b, "fixed", f)
		}
	}
	for _, f := range d.Findings {
		writeFinding(&b, string(f.Severity), f)
	}
	if d.Healthy && isEmpty(d.Findings) {
		fmt.Fprintf(&b, "%s: the file is empty, without tables and keys\n", d.File)
	} else if d.Healthy {
		fmt.Fprintf(&b, "%s: nothing is wrong\n", d.File)
	} else {
		fmt.Fprintf(&b, "%s: something is wrong\n", d.File)
		if canFix(d.Findings) && !o.fix {
			b.WriteString("To repair it: meowdis doctor --fix " + d.File + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeFinding(b *strings.Builder, heading string, f doctor.Finding) {
	fmt.Fprintf(b, "%-8s %s: %s (%s)\n", heading, f.Check, f.Says, display.Grouped(f.Count))
	for _, e := range f.Examples {
		fmt.Fprintf(b, "           %s\n", e)
	}
	if f.Fix != "" {
		fmt.Fprintf(b, "         fix: %s\n", f.Fix)
	}
	if f.Advice != "" {
		fmt.Fprintf(b, "         %s\n", f.Advice)
	}
}
