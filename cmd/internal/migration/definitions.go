package migration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/meowdis/meowdis/cmd/internal/move"
	"github.com/meowdis/meowdis/transfer"
	"github.com/meowdis/meowdis/transfer/follow"
)

// copyDefinitions creates the definitions of the source that the target lacks, and deletes the ones that the source has
// deleted since they were last copied. Definitions that only the target ever had stay.
func (m *Migration) copyDefinitions(ctx context.Context) error {
	all, incomplete, err := transfer.ReadDefinitions(ctx, m.src)
	says := incomplete
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		says = err.Error()
	case incomplete != "":
		says = fmt.Sprintf("%s does not show %s of search: create them again if you use them", m.src.Target, incomplete)
	}
	if says != "" && says != m.notShown {
		m.say("%s", says)
	}
	m.notShown = says
	m.searches = m.searches || len(all.Indexes) > 0
	if err == nil {
		if err := m.dropDefinitions(ctx, all); err != nil {
			return err
		}
	}
	return m.loadDefinitions(ctx, all)
}

// definition returns the name of a difference's definition, as the target records it.
func definition(d transfer.Difference) string {
	if d.Index != nil {
		return d.Index.String()
	}
	return "library " + d.Library
}

// dropDefinitions deletes the libraries, indexes and aliases of the target that the source has deleted, and records the
// ones that it has now.
func (m *Migration) dropDefinitions(ctx context.Context, all transfer.Definitions) error {
	copied, err := follow.ReadCopied(ctx, m.dst, m.key)
	if err != nil {
		return err
	}
	var names [][]byte
	transfer.DiffDefinitions(all, transfer.Definitions{}, true, func(d transfer.Difference) {
		name := definition(d)
		if !copied[name] {
			names = append(names, []byte(name))
		}
		delete(copied, name)
	})
	// Before the definitions are created: after a crash the record must not lack one.
	if err := follow.AddCopied(ctx, m.dst, m.key, names); err != nil || len(copied) == 0 {
		return err
	}
	there, _, err := transfer.ReadDefinitions(ctx, m.dst)
	if err != nil {
		return err
	}
	var drop [][][]byte
	transfer.DiffDefinitions(there, all, true, func(d transfer.Difference) {
		switch {
		case d.What != transfer.OnlyInA || !copied[definition(d)]:
		case d.Index == nil:
			drop = append(drop, [][]byte{[]byte("FUNCTION"), []byte("DELETE"), []byte(d.Library)})
		case d.Index.What == transfer.AliasKind: // before its index, which takes it along
			drop = slices.Insert(drop, 0, d.Index.Removal()...)
		default:
			drop = append(drop, d.Index.Removal()...)
		}
	})
	for _, args := range drop {
		v, err := m.dst.Do(ctx, args...)
		if err != nil {
			return err
		}
		if v.IsError() {
			m.noteRefused(string(args[0]), transfer.Refusal(v.Str))
		}
	}
	for name := range copied {
		if err := follow.RemoveCopied(ctx, m.dst, m.key, []byte(name)); err != nil {
			return err
		}
	}
	return nil
}

// definesSearch reports whether a command of the stream may create an index.
func definesSearch(args [][]byte) bool {
	name := strings.ToUpper(string(args[0]))
	return strings.HasPrefix(name, "FT.") || name == "SEARCH.CREATE"
}

// isDefined reports whether the target refused a command about search because it has its effect already: the definitions
// are copied after the snapshot, and some of their commands are in the stream after it.
func isDefined(command string, err error) bool {
	if !strings.HasPrefix(command, "FT.") && !strings.HasPrefix(command, "SEARCH.") {
		return false
	}
	says := strings.ToLower(err.Error())
	for _, done := range []string{"already exists", "duplicate field in schema", "unknown index name", "no such index", "alias does not exist"} {
		if strings.Contains(says, done) {
			return true
		}
	}
	return false
}

// loadDefinitions creates definitions at the target.
func (m *Migration) loadDefinitions(ctx context.Context, all transfer.Definitions) error {
	made, err := transfer.WriteDefinitions(ctx, m.dst, all, transfer.Replace, func(name, why string) {
		if says := name + why; !m.refusedNames[says] {
			m.refusedNames[says] = true
			m.noteRefused(name, transfer.Refusal(why))
		}
	})
	if err != nil || made.Indexes == 0 {
		return err
	}
	return m.buildIndexes(ctx)
}

// buildIndexes indexes the keys of the target if it is a file. A server does that itself.
func (m *Migration) buildIndexes(ctx context.Context) error {
	if m.dst.File == nil {
		return nil
	}
	return move.BuildIndexes(ctx, m.dst.File)
}
