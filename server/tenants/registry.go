package tenants

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/resp"
)

// Registry is the list of the tenants of a directory. It is safe for concurrent use, and several
// processes may have it open.
//
// Two keys are of each: tenant:NAME is the hash of its token, and token:HASH is a hash of the facts.
type Registry struct {
	dir    string
	file   *local.Store
	engine *engine.Engine
}

const (
	bookName = "tenants.sqlite"
	filesDir = "files"
)

// Limits bound a tenant. A 0 is no bound of its own.
type Limits struct {
	Bytes   int64 // that its data may take of its file
	Clients int   // connections over RESP, and requests over REST at once
}

// Tenant is one of them.
type Tenant struct {
	Name string
	ID   string // names its file, and is never given to another one
	Made time.Time
	Limits

	hash string // of its token
}

// ErrNoTenant is the error for a name that is no tenant's.
var ErrNoTenant = errors.New("there is no tenant of that name")

// OpenBook opens the book of a directory. With make a missing one is made, with the directory; its
// parent must be there.
func OpenBook(dir string, make bool, o local.Options) (*Registry, error) {
	if make {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("making the directory of the tenants, %s: %w", dir, atomicfile.Pathless(err))
		}
		if err := os.Mkdir(filepath.Join(dir, filesDir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("making a directory in %s: %w", dir, atomicfile.Pathless(err))
		}
	}
	path := filepath.Join(dir, bookName)
	if _, err := os.Stat(path); !make && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no tenants: meowdis tenants add %[1]s NAME makes the first", dir)
	}
	file, err := local.Open(path, o)
	if err != nil {
		return nil, err
	}
	return &Registry{dir, file, engine.New(file)}, nil
}

// Close closes the book.
func (b *Registry) Close() error { return b.file.Close() }

// Path is the file of a tenant.
func (b *Registry) Path(t Tenant) string { return filepath.Join(b.dir, filesDir, t.ID+".sqlite") }

// newSecret is a token or an ID: 130 random bits, in letters and digits of one case, so that a file can
// be named so anywhere.
func newSecret() string { return strings.ToLower(rand.Text()) }

// hashOf is what is kept of a token. A token is as random as its hash, so that no slow hash is needed.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// maxName is how long a name may be.
const maxName = 64

// checkName says what is wrong with a new name. Names are no paths: they are user names over RESP.
func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("a name has 1 to %d characters", maxName)
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-") != "":
		return errors.New("a name has letters, digits and . _ @ - and nothing else")
	case strings.EqualFold(name, acl.Default):
		return errors.New("every client is called default until it says who it is: choose another name")
	}
	return nil
}

// Add makes a tenant with an empty file, and returns its token, which is kept nowhere.
func (b *Registry) Add(ctx context.Context, name string, l Limits) (token string, err error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	t := Tenant{Name: name, ID: newSecret(), Made: time.Now(), Limits: l}
	token = newSecret()
	t.hash = hashOf(token)
	taken := fmt.Errorf("there is a tenant called %s", name)
	if old, err := b.named(ctx, name); err != nil || old != "" {
		return "", cmp.Or(err, taken)
	}
	// The file first: a tenant without its file is one whose data is lost.
	file, err := local.Open(b.Path(t), local.Options{SingleConn: true, SweepEvery: -1})
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = b.change(ctx, name, func(old string) ([][][]byte, error) {
			if old != "" {
				return nil, taken
			}
			return [][][]byte{call("SET", "tenant:"+name, t.hash), t.facts()}, nil
		})
	}
	if err != nil {
		return "", errors.Join(err, removeFile(b.Path(t)))
	}
	return token, nil
}

// Change gives a tenant other limits, or with anew another token, which it returns.
func (b *Registry) Change(ctx context.Context, name string, anew bool, limits func(*Limits)) (token string, err error) {
	if anew {
		token = newSecret()
	}
	return token, b.change(ctx, name, func(hash string) ([][][]byte, error) {
		t, ok, err := b.read(ctx, hash)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, ErrNoTenant
		}
		limits(&t.Limits)
		calls := [][][]byte{call("DEL", "token:"+hash)}
		if anew {
			t.hash = hashOf(token)
			calls = append(calls, call("SET", "tenant:"+name, t.hash))
		}
		return append(calls, t.facts()), nil
	})
}

// Remove removes a tenant and its file. From then on its token is none.
func (b *Registry) Remove(ctx context.Context, name string) error {
	var t Tenant
	err := b.change(ctx, name, func(hash string) ([][][]byte, error) {
		var ok bool
		var err error
		if t, ok, err = b.read(ctx, hash); err == nil && !ok {
			err = ErrNoTenant
		}
		return [][][]byte{call("DEL", "tenant:"+name, "token:"+hash)}, err
	})
	if err != nil {
		return err
	}
	if err := removeFile(b.Path(t)); err != nil {
		return fmt.Errorf("%s is no tenant any more, and its file is left: %w", name, err)
	}
	return nil
}

// List lists the tenants by name.
func (b *Registry) List(ctx context.Context) ([]Tenant, error) {
	session := b.engine.Session()
	keys, err := session.Do(ctx, []byte("KEYS"), []byte("tenant:*"))
	if err != nil || keys.IsError() {
		return nil, failed(err, keys)
	}
	all := make([]Tenant, 0, len(keys.Elems))
	for _, key := range keys.Elems {
		hash, err := session.Do(ctx, []byte("GET"), key.Str)
		if err != nil {
			return nil, err
		}
		if t, ok, err := b.read(ctx, string(hash.Str)); err != nil {
			return nil, err
		} else if ok { // it was not removed meanwhile
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Tenant) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Find finds the tenant that has the token.
func (b *Registry) Find(ctx context.Context, token string) (t Tenant, ok bool, err error) {
	return b.read(ctx, hashOf(token))
}

// read reads the facts of the tenant whose token has the hash.
func (b *Registry) read(ctx context.Context, hash string) (t Tenant, ok bool, err error) {
	if hash == "" {
		return t, false, nil
	}
	session := b.engine.Session()
	v, err := session.Do(ctx, []byte("HMGET"), []byte("token:"+hash), []byte("name"), []byte("id"), []byte("made"), []byte("bytes"), []byte("clients"))
	if err != nil || v.IsError() {
		return t, false, failed(err, v)
	}
	text := func(i int) string { return string(v.Elems[i].Str) }
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(text(i), 10, 64)
		return n
	}
	t = Tenant{Name: text(0), ID: text(1), Made: time.UnixMilli(number(2)), Limits: Limits{number(3), int(number(4))}, hash: hash}
	return t, t.ID != "", nil
}

// facts is the call that writes what is known of a tenant.
func (t Tenant) facts() [][]byte {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return call("HSET", "token:"+t.hash, "name", t.Name, "id", t.ID, "made", number(t.Made.UnixMilli()),
		"bytes", number(t.Bytes), "clients", number(int64(t.Clients)))
}

// named is the hash of the token of the tenant with the name, "" for none.
func (b *Registry) named(ctx context.Context, name string) (hash string, err error) {
	v, err := b.engine.Session().Do(ctx, []byte("GET"), []byte("tenant:"+name))
	if err != nil || v.IsError() {
		return "", failed(err, v)
	}
	return string(v.Str), nil
}

// change runs the calls that plan returns as one transaction, or none of them when it fails. It is
// given the hash of the token that the tenant has, "" for none; when that changes meanwhile it is
// called again.
func (b *Registry) change(ctx context.Context, name string, plan func(hash string) ([][][]byte, error)) error {
	for {
		session := b.engine.Session()
		if v, err := session.Do(ctx, call("WATCH", "tenant:"+name)...); err != nil || v.IsError() {
			return failed(err, v)
		}
		hash, err := b.named(ctx, name)
		if err != nil {
			return err
		}
		calls, err := plan(hash)
		if err != nil {
			return err
		}
		calls = append(append([][][]byte{call("MULTI")}, calls...), call("EXEC"))
		replies, err := session.Pipeline(ctx, calls)
		if err != nil {
			return err
		}
		switch v := replies[len(replies)-1]; {
		case v.HasError():
			return failed(nil, v)
		case !v.IsNull():
			return nil
		}
	}
}

func failed(err error, v resp.Value) error {
	if err == nil {
		err = errors.New(string(v.Str))
	}
	return fmt.Errorf("the list of tenants: %w", err)
}

func call(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	return args
}

// removing is how long a file is tried to be removed: some systems remove none that a server has open,
// which closes it as soon as it hears.
const removing = 5 * time.Second

// removeFile removes a file, and those beside it after it.
func removeFile(path string) error {
	late := time.Now().Add(removing)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		for {
			err := os.Remove(path + suffix)
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				break
			}
			if time.Now().After(late) {
				return atomicfile.Pathless(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return nil
}
