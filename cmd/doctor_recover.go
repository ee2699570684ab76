package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/exit"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/keyspace/display"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/local/doctor"
)

// recoverResult defines the output of doctor --recover.
type recoverResult struct {
	File string `json:"file"`
	New  string `json:"recovered"`
	doctor.Salvaged
}

// salvage writes the readable rows of the damaged file at path to the new file o.recover. It returns exit.ErrReported
// if something was lost.
func (o *doctorOptions) salvage(ctx context.Context, s *streams, path string) (err error) {
	defer func() {
		if err != nil && !errors.Is(err, exit.ErrReported) {
			err = fmt.Errorf("recovering %s to %s: %w", path, o.recover, err)
		}
	}()
	if err := atomicfile.Check(o.recover, false); err != nil {
		if errors.Is(err, atomicfile.ErrDatabase) {
			return atomicfile.ErrExists
		}
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return atomicfile.Pathless(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return atomicfile.Pathless(err)
	}
	from := doctor.Salvage{File: file, FileSize: info.Size()}
	switch log, err := os.Open(path + "-wal"); {
	case err == nil:
		defer log.Close()
		from.Log = log
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	partial, err := os.CreateTemp(filepath.Dir(o.recover), "."+filepath.Base(o.recover)+".*")
	if err != nil {
		return atomicfile.Pathless(err)
	}
	defer func() {
		for _, end := range []string{"", "-wal", "-shm", "-journal"} {
			os.Remove(partial.Name() + end)
		}
	}()
	if err := partial.Close(); err != nil {
		return err
	}
	r := recoverResult{File: path, New: o.recover}
	if r.Salvaged, err = o.fill(ctx, s, partial.Name(), from); err != nil {
		return err
	}
	if r.Keys == 0 && len(r.Lost) == 0 && r.Expected == 0 {
		return errors.New("it has no readable keys")
	}
	if err := atomicfile.Name(partial.Name(), o.recover, false); err != nil {
		return atomicfile.Pathless(err)
	}
	if err := o.printRecovered(s.out, r); err != nil {
		return err
	}
	if len(r.Lost) > 0 || r.Keys < r.Expected {
		return exit.ErrReported
	}
	return nil
}

// fill creates our tables in the empty file at path and inserts the rows of from.
func (o *doctorOptions) fill(ctx context.Context, s *streams, path string, from doctor.Salvage) (r doctor.Salvaged, err error) {
	made, err := local.Open(path, local.Options{SweepEvery: noSweep, SingleConn: true})
	if err != nil {
		return r, err
	}
	if err := made.Close(); err != nil {
		return r, err
	}
	f, err := local.OpenFile(path, false)
	if err != nil {
		return r, err
	}
	bar := newProgress(s, "recovering", "checks", -1)
	defer bar.End()
	err = f.Change(func() error {
		if from.Exam, err = o.exam(f); err != nil {
			return err
		}
		from.Exam.Step = func(what string) { bar.Say("recovering " + what) }
		if !o.examplesGiven {
			from.Exam.Examples = math.MaxInt32
		}
		r, err = from.Run()
		return err
	})
	if err == nil {
		bar.Say("indexing keys")
		err = buildIndexes(ctx, path)
	}
	var left []doctor.Finding
	if err == nil {
		left, err = o.examine(s, f)
	}
	for _, f := range left {
		said := slices.ContainsFunc(r.Lost, func(lost doctor.Finding) bool { return lost.Check == f.Check })
		if f.Severity == doctor.Error && !said {
			r.Lost = append(r.Lost, f)
		}
	}
	return r, errors.Join(err, f.Close())
}

func (o *doctorOptions) printRecovered(w io.Writer, r recoverResult) error {
	if o.file.json {
		if r.Lost == nil {
			r.Lost = []doctor.Finding{}
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	var b strings.Builder
	for _, f := range r.Lost {
		writeFinding(&b, "lost", f)
	}
	fmt.Fprintf(&b, "%s: %s keys", r.New, display.Grouped(r.Keys))
	if r.Expected > 0 {
		fmt.Fprintf(&b, " of %s", display.Grouped(r.Expected))
	}
	fmt.Fprintf(&b, " from %s pages", display.Grouped(r.Pages))
	if r.Damaged > 0 {
		fmt.Fprintf(&b, ", %s of them damaged", display.Grouped(r.Damaged))
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// isEmpty reports whether the findings say that the file has no tables.
func isEmpty(findings []doctor.Finding) bool {
	for _, f := range findings {
		if f.Check == "version" && f.Severity == doctor.Note {
			return true
		}
	}
	return false
}
