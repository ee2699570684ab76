package transfer

import (
	"context"
	"errors"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/redis/resp"
)

// RDBWriter is a sink that writes a Redis dump file.
type RDBWriter struct {
	file      *rdb.FileWriter
	notify    Notify
	written   int64
	skip      bool // skip the rest of the current key
	vectors   *VectorSet
	noModules bool
}

var (
	errNoRDBType = errors.New("a Redis dump file cannot contain this type")
	errModule    = errors.New("a Redis server without the module for this type cannot load it")
	errChanged   = errors.New("it was changed while it was read, and a dump file must not contain an element twice; try again when fewer clients write")
)

// NewRDBWriter returns a sink that writes to file.
func NewRDBWriter(file *rdb.FileWriter, notify Notify) *RDBWriter {
	return &RDBWriter{file: file, notify: notify}
}

// rdbIndex names the fields that have the commands of Indexes, each as one line. Redis skips unknown fields.
const rdbIndex = "meowdis-index"

// Definitions writes definitions. It must be called before the first Put.
func (w *RDBWriter) Definitions(all Definitions) error {
	for _, source := range all.Libraries {
		if err := w.file.Function(source); err != nil {
			return err
		}
	}
	for _, command := range all.Indexes.Commands() {
		var line []byte
		for i, word := range command {
			if i > 0 {
				line = append(line, ' ')
			}
			line = resp.AppendQuoted(line, word, false)
		}
		if err := w.file.Aux([]byte(rdbIndex), line); err != nil {
			return err
		}
	}
	return nil
}

// readFrom makes f add its definitions to all. note receives the offsets of invalid ones.
func (all *Definitions) readFrom(f *rdb.File, note func(offset int64, what string)) {
	f.OnFunction(func(source []byte) { all.Libraries = append(all.Libraries, source) })
	f.OnAux(func(name, value []byte) {
		if string(name) != rdbIndex {
			return
		}
		if command, err := resp.SplitLine(string(value)); err != nil || !all.Indexes.Add(command) {
			note(f.Offset(), "an unknown definition of search")
		}
	})
}

// LeaveOutModules leaves out values of modules: a Redis server without the module does not start with them.
func (w *RDBWriter) LeaveOutModules() { w.noModules = true }

// Keys returns the number of keys in the file.
func (w *RDBWriter) Keys() int64 { return w.written }

// Put writes the next part.
func (w *RDBWriter) Put(_ context.Context, p Part) error {
	if p.First {
		w.skip = false
	}
	if p.Err != nil {
		w.skip = true
		w.file.Drop()
	}
	if w.skip {
		return nil
	}
	if set, ok := p.Value.(*VectorSet); ok {
		return w.vectorSet(p, set)
	}
	value, ok := p.Value.(rdb.Value)
	if d, isDocument := p.Value.(Document); isDocument {
		value, ok = d.toDump(), true
	}
	if _, is := value.(*rdb.Module); is && w.noModules {
		w.leaveOut(p.Key, errModule)
		return nil
	}
	switch {
	case !ok:
		w.leaveOut(p.Key, errNoRDBType)
		return nil
	case p.Changed && !p.First && mayHaveDuplicates(value):
		w.leaveOut(p.Key, errChanged)
		return nil
	}
	if p.Last {
		w.written++
	}
	k := p.Key
	return w.file.Write(rdb.Piece{DB: k.DB, Key: k.Name, ExpiresAt: k.ExpiresAt, Value: value, First: p.First, Last: p.Last})
}

// vectorSet collects the parts of a vector set, as the file holds links between all its
// elements.
func (w *RDBWriter) vectorSet(p Part, s *VectorSet) error {
	if p.First {
		w.vectors = &VectorSet{VectorShape: s.VectorShape}
	}
	w.vectors.Elements = append(w.vectors.Elements, s.Elements...)
	if !p.Last {
		return nil
	}
	set := w.vectors
	w.vectors = nil
	if p.Changed && !p.First && set.hasDuplicates() {
		w.leaveOut(p.Key, errChanged)
		return nil
	}
	w.written++
	k := p.Key
	return w.file.Write(rdb.Piece{DB: k.DB, Key: k.Name, ExpiresAt: k.ExpiresAt, Value: set.toDump(), First: true, Last: true})
}

// mayHaveDuplicates reports whether v, read while it changed, may contain an element twice that must be
// unique.
func mayHaveDuplicates(v rdb.Value) bool {
	switch v.(type) {
	case rdb.Set, rdb.ZSet, rdb.Hash:
		return true
	}
	return false
}

func (w *RDBWriter) leaveOut(k *Key, err error) {
	w.skip = true
	w.file.Drop()
	w.notify(k, err)
}

// Close ends the file. With a cause it writes no end, so readers detect that the file is
// incomplete.
func (w *RDBWriter) Close(_ context.Context, cause error) error {
	if cause != nil {
		return cause
	}
	return w.file.End()
}
