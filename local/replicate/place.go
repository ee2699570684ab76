package replicate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/superfly/ltx"
)

// Place stores a stream.
type Place struct {
	files
	name  string
	pause time.Duration // between two attempts to read a file

	mu     sync.Mutex
	latest record // the lease with the highest fencing number that was read or written
}

func newPlace(f files, name string) *Place {
	return &Place{files: f, name: name, pause: 500 * time.Millisecond}
}

// files stores and lists the files of a place.
type files interface {
	// list returns the files of a level, in any order. A missing level is empty. The list may leave out a
	// file that is created during the call, and contain a later one.
	list(ctx context.Context, level int) ([]*ltx.FileInfo, error)
	// open reads size bytes from offset, or all with size 0. The error is fs.ErrNotExist for a missing file.
	open(ctx context.Context, f *ltx.FileInfo, offset, size int64) (io.ReadCloser, error)
	// write creates a file, complete or not at all. It returns errExists if the file exists.
	write(ctx context.Context, f *ltx.FileInfo, body body) error
	// remove removes files; a missing file is not an error.
	remove(ctx context.Context, fs []*ltx.FileInfo) error
	// readLease returns the lease and its version, which is "" if the place has none.
	readLease(ctx context.Context) (record []byte, version string, err error)
	// writeLease replaces the lease if its version is still the given one, "" for none, and returns the new version.
	// It returns errExists if the version is another one. After any other error, the lease may have been replaced.
	writeLease(ctx context.Context, record []byte, version string) (string, error)
	// checkLease returns errNoConditions if the place cannot compare the version of its lease.
	checkLease(ctx context.Context) error
}

// body reads the content of a file.
type body interface {
	io.ReadSeeker
	io.ReaderAt
}

var (
	errExists       = errors.New("the file exists already")
	errNoConditions = errors.New("it ignores If-Match")
)

// Level snapshots holds full snapshots.
const snapshotLevel = 9

// Open returns the place of a URL: file:///path, the path of a directory, or
// s3://bucket/path?endpoint=URL&region=NAME. Credentials and other S3 settings come from the same environment
// variables as in Amazon's tools. Open makes no request.
func Open(where string, getenv func(string) string) (*Place, error) {
	u, err := url.Parse(where)
	if err != nil || u.Scheme == "" || len(u.Scheme) == 1 { // a path; C: is not a scheme
		return openDirectory(where)
	}
	switch {
	case u.User != nil:
		return nil, errors.New("a URL must not contain a password: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	case u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") && u.RawQuery == "":
		return openDirectory(filepath.FromSlash(u.Path))
	case u.Scheme == "s3":
		return openBucket(u, getenv)
	}
	return nil, fmt.Errorf("invalid place %q: use a directory, file:///path or s3://bucket/path", where)
}

// IsURL reports whether the word can only be the URL of a place.
func IsURL(word string) bool {
	return strings.HasPrefix(word, "s3://") || strings.HasPrefix(word, "file://")
}

// String returns the place without credentials.
func (p *Place) String() string { return p.name }

// all returns the files of all levels that are part of the stream. It lists them again if there is a gap.
func (p *Place) all(ctx context.Context) ([]*ltx.FileInfo, error) {
	for attempt := 1; ; attempt++ {
		all, err := p.listAll(ctx)
		if err == nil {
			all, err = p.valid(ctx, all)
		}
		if err != nil {
			return nil, err
		}
		if _, gap := plan(all, 0); gap == nil || attempt == attempts {
			return all, nil
		}
	}
}

// listAll returns the files of all levels.
func (p *Place) listAll(ctx context.Context) (all []*ltx.FileInfo, err error) {
	for level := range snapshotLevel + 1 {
		some, err := p.list(ctx, level)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// head reads the header of a file.
func (p *Place) head(ctx context.Context, f *ltx.FileInfo) (h ltx.Header, err error) {
	err = p.part(ctx, f, 0, ltx.HeaderSize, &h)
	return h, err
}

// tail reads the trailer of a file.
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

// failed wraps the error of an operation on a file.
func (p *Place) failed(doing string, f *ltx.FileInfo, err error) error {
	return fmt.Errorf("%s %s of level %d in %s: %w", doing, ltx.FormatFilename(f.MinTXID, f.MaxTXID), f.Level, p, err)
}
