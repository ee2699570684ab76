package transfer

import (
	"bufio"
	"errors"
	"io"

	"github.com/meowdis/meowdis/rdb"
)

// FromRDB yields what a dump file of Redis holds. note, which may be nil, is told of
// the parts that are passed over: values of modules, and functions.
func FromRDB(in *bufio.Reader, note func(offset int64, what string)) Source {
	return fromFile(rdb.NewFile(in, note))
}

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
	for {
		p, err := f.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if p.First {
			key = &Key{DB: p.DB, Name: p.Key, Type: typeOf(p.Value), ExpiresAt: p.ExpiresAt, Count: p.Count}
		}
		if !yield(Part{Key: key, Value: p.Value, First: p.First, Last: p.Last}) {
			return errStopped
		}
	}
}
