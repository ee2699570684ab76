package replicate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/superfly/ltx"
)

// Place is where a stream is kept.
type Place struct {
	files
	name  string
	pause time.Duration // between two attempts at reading a file
}

func newPlace(f files, name string) *Place { return &Place{f, name, 500 * time.Millisecond} }

// files are those of a place.
type files interface {
	// list returns those of a level, in any order. A level without any is empty.
	list(ctx context.Context, level int) ([]*ltx.FileInfo, error)
	// open reads from offset, size bytes or with 0 all; fs.ErrNotExist is that it is gone.
	open(ctx context.Context, f *ltx.FileInfo, offset, size int64) (io.ReadCloser, error)
	// write makes a file, whole or not at all, unless there is one: errTaken.
	write(ctx context.Context, f *ltx.FileInfo, body body) error
	// remove removes files; one that is gone is no error.
	remove(ctx context.Context, fs []*ltx.FileInfo) error
}

// body is what a file is made of.
type body interface {
	io.ReadSeeker
	io.ReaderAt
}

var errTaken = errors.New("there is a file of that name already")

// snapshots is the level of whole files.
const snapshots = 9

// Open returns the place of a URL: file:///path, or the path of a directory, or s3://bucket/path with
// endpoint=URL and region=NAME. The rest of what S3 needs comes from the environment, as its own
// programs have it. Nothing is asked yet.
func Open(where string, getenv func(string) string) (*Place, error) {
	u, err := url.Parse(where)
	if err != nil || u.Scheme == "" || len(u.Scheme) == 1 { // a path; C: is no scheme
		return openDirectory(where)
	}
	switch {
	case u.User != nil:
		return nil, errors.New("a URL with a password is no place: S3's are taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	case u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") && u.RawQuery == "":
		return openDirectory(filepath.FromSlash(u.Path))
	case u.Scheme == "s3":
		return openBucket(u, getenv)
	}
	return nil, fmt.Errorf("%s is no place: it is the path of a directory, file:///path or s3://bucket/path", where)
}

// IsURL reports whether the word can only be meant as the URL of a place.
func IsURL(word string) bool {
	return strings.HasPrefix(word, "s3://") || strings.HasPrefix(word, "file://")
}

// String is the place for people.
func (p *Place) String() string { return p.name }

// all are the files of all levels.
func (p *Place) all(ctx context.Context) (all []*ltx.FileInfo, err error) {
	for level := range snapshots + 1 {
		some, err := p.list(ctx, level)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// head reads the beginning of a file.
func (p *Place) head(ctx context.Context, f *ltx.FileInfo) (h ltx.Header, err error) {
	err = p.part(ctx, f, 0, ltx.HeaderSize, &h)
	return h, err
}

// tail reads the end of a file.
func (p *Place) tail(ctx context.Context, f *ltx.FileInfo) (t ltx.Trailer, err error) {
	err = p.part(ctx, f, f.Size-ltx.TrailerSize, ltx.TrailerSize, &t)
	return t, err
}

func (p *Place) part(ctx context.Context, f *ltx.FileInfo, offset, size int64, to interface{ UnmarshalBinary([]byte) error }) error {
	r, err := p.open(ctx, f, offset, size)
	if err != nil {
		return p.failed("reading", f, err)
	}
	b := make([]byte, size)
	_, err = io.ReadFull(r, b)
	if err = errors.Join(err, r.Close()); err == nil {
		err = to.UnmarshalBinary(b)
	}
	if err != nil {
		return p.failed("reading", f, err)
	}
	return nil
}

// failed is the error of something that was done with a file.
func (p *Place) failed(doing string, f *ltx.FileInfo, err error) error {
	return fmt.Errorf("%s %s of level %d in %s: %w", doing, ltx.FormatFilename(f.MinTXID, f.MaxTXID), f.Level, p, err)
}
