package transfer

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/meowdis/meowdis/redis/rdb"
	"github.com/meowdis/meowdis/store/keytype"
)

// RDBOptions configures reading a dump file.
type RDBOptions struct {
	Note        func(offset int64, what string) // if not nil, receives skipped items: module data and functions
	Definitions *Definitions                    // if not nil, receives the definitions, which are then not skipped
	Salvage     bool                            // continue after a damaged key
	Empty       func(keys int64)                // if not nil, receives the number of empty collections, which Redis also skips
}

// FromRDB yields the keys of a Redis dump file.
func FromRDB(in *bufio.Reader, o RDBOptions) Source {
	f := rdb.NewFile(in, o.Note)
	if o.Definitions != nil {
		note := o.Note
		if note == nil {
			note = func(int64, string) {}
		}
		o.Definitions.readFrom(f, note)
	}
	if o.Salvage {
		f.Salvage()
	}
	return func(yield func(Part, error) bool) {
		err := eachPiece(f, func(p Part) bool { return yield(p, nil) })
		if n := f.Empty(); n > 0 && o.Empty != nil {
			o.Empty(n)
		}
		if _, more := in.Peek(1); err == nil && more == nil {
			err = errTrailingData
		}
		if err != nil && err != errStopped {
			yield(Part{}, err)
		}
	}
}

var errTrailingData = errors.New("there is more after the end of the dump: if it is an append-only file, give --format aof")

// fromFile yields the pieces of a dump file as parts.
func fromFile(f *rdb.File) Source {
	return func(yield func(Part, error) bool) {
		if err := eachPiece(f, func(p Part) bool { return yield(p, nil) }); err != nil && err != errStopped {
			yield(Part{}, err)
		}
	}
}

func eachPiece(f *rdb.File, yield func(Part) bool) error {
	var key *Key
	var void bool // skip the rest of the current key
	for {
		p, err := f.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		part := Part{First: p.First, Last: p.Last, Err: p.Err}
		if part.Value, err = fromDumpValue(p.Value); err != nil {
			part.Value, part.Last, part.Err = nil, true, err
		}
		if p.First {
			key = &Key{DB: p.DB, Name: p.Key, Type: typeOf(part.Value), ExpiresAt: p.ExpiresAt, Count: p.Count}
			void = false
		}
		var foreign *rdb.ModuleValue
		if p.Err != nil && !errors.As(p.Err, &foreign) {
			part.Err = fmt.Errorf("it is damaged: %w", p.Err)
		}
		if part.Key = key; void {
			continue
		}
		void = part.Err != nil
		if !yield(part) {
			return errStopped
		}
	}
}

// fromDumpValue converts a value of a dump file. An error concerns only its key.
func fromDumpValue(v rdb.Value) (Value, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case *rdb.VectorSet:
		return fromDumpVectorSet(v)
	case *rdb.Module:
		if v.Name == keytype.JSON {
			return fromDumpDocument(v)
		}
	}
	return v, nil
}

// documentVersion numbers the format of a JSON document in a dump file: its only field is the text.
const documentVersion = 3

func fromDumpDocument(m *rdb.Module) (Value, error) {
	r := m.Reader()
	if text := r.String(); m.Version == documentVersion && r.Done() {
		return Document(text), nil
	}
	return nil, errors.New("its JSON is in a format of another version of Redis")
}

func (d Document) toDump() *rdb.Module {
	m := &rdb.Module{Name: keytype.JSON, Version: documentVersion}
	m.String(d)
	return m
}
