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
	"strconv"
	"strings"
	"time"

	"github.com/meowdis/meowdis/engine"
	"github.com/meowdis/meowdis/internal/atomicfile"
	"github.com/meowdis/meowdis/internal/smallsort"
	"github.com/meowdis/meowdis/local"
	"github.com/meowdis/meowdis/redis/acl"
	"github.com/meowdis/meowdis/redis/resp"
)

// Registry lists the tenants of a directory. It is safe for concurrent use, and several processes may open
// it.
//
// Each tenant has two keys: tenant:NAME holds the hash of its token, and token:HASH is a hash with its fields.
type Registry struct {
	dir    string
	file   *local.Store
	engine *engine.Engine
}

const (
	registryName = "tenants.sqlite"
	filesDir     = "files"
)

// Limits holds the limits of a tenant; 0 means no own limit.
type Limits struct {
	Bytes   int64 // size of its data in the file
	Clients int   // RESP connections and concurrent REST requests
}

// Tenant is an entry of the registry.
type Tenant struct {
	Name    string
	ID      string // names its file; never reused
	Created time.Time
	Limits

	hash string // hash of its token
}

// ErrNoTenant reports an unknown tenant name.
var ErrNoTenant = errors.New("no such tenant")

// OpenRegistry opens the registry of a directory. If make is set, it creates a missing registry and its directory,
// whose parent must exist.
func OpenRegistry(dir string, make bool, o local.Options) (*Registry, error) {
	if make {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("creating the tenants' directory %s: %w", dir, atomicfile.Pathless(err))
		}
		if err := os.Mkdir(filepath.Join(dir, filesDir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("creating a directory in %s: %w", dir, atomicfile.Pathless(err))
		}
	}
	path := filepath.Join(dir, registryName)
	if _, err := os.Stat(path); !make && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no tenants: create one with meowdis tenants add %[1]s NAME", dir)
	}
	file, err := local.Open(path, o)
	if err != nil {
		return nil, err
	}
	return &Registry{dir, file, engine.New(file)}, nil
}

// Close closes the registry.
func (b *Registry) Close() error { return b.file.Close() }

// Path returns the file of a tenant.
func (b *Registry) Path(t Tenant) string { return filepath.Join(b.dir, filesDir, t.ID+".sqlite") }

// newSecret returns a token or an ID: 130 random bits in lower-case letters and digits, valid as a file name on every
// system.
func newSecret() string { return strings.ToLower(rand.Text()) }

// hashOf returns the hash that is stored for a token. Tokens are random, so a slow password hash is not needed.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// maxName limits a name, in characters.
const maxName = 64

// checkName returns an error for an invalid new name. Names serve as user names over RESP, not as paths.
func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("invalid tenant name %q: use 1 to %d characters", name, maxName)
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-") != "":
		return fmt.Errorf("invalid tenant name %q: use only letters, digits and . _ @ -", name)
	case strings.EqualFold(name, acl.Default):
		return fmt.Errorf("invalid tenant name %q: clients have this name before they log in, choose another", name)
	}
	return nil
}

// Add creates a tenant with an empty file and returns its token, which is not stored.
func (b *Registry) Add(ctx context.Context, name string, l Limits) (token string, err error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	t := Tenant{Name: name, ID: newSecret(), Created: time.Now(), Limits: l}
	token = newSecret()
	t.hash = hashOf(token)
	taken := fmt.Errorf("tenant %q already exists", name)
	if old, err := b.hashByName(ctx, name); err != nil || old != "" {
		return "", cmp.Or(err, taken)
	}
	// The file first: a tenant without a file looks like lost data.
	file, err := local.Open(b.Path(t), local.Options{SingleConn: true, SweepEvery: -1})
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = b.change(ctx, name, func(old string) ([][][]byte, error) {
			if old != "" {
				return nil, taken
			}
			return [][][]byte{call("SET", "tenant:"+name, t.hash), t.fieldsCall()}, nil
		})
	}
	if err != nil {
		return "", errors.Join(err, removeFile(b.Path(t)))
	}
	return token, nil
}

// Change updates the limits of a tenant. If renew is true, it also creates and returns a token that replaces the old
// one.
func (b *Registry) Change(ctx context.Context, name string, renew bool, limits func(*Limits)) (token string, err error) {
	if renew {
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
		if renew {
			t.hash = hashOf(token)
			calls = append(calls, call("SET", "tenant:"+name, t.hash))
		}
		return append(calls, t.fieldsCall()), nil
	})
}

// Remove removes a tenant, its token and its file.
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
		return fmt.Errorf("tenant %q was removed, but its file was not: %w", name, err)
	}
	return nil
}

// List returns the tenants sorted by name.
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
		} else if ok { // not removed since KEYS
			all = append(all, t)
		}
	}
	smallsort.Sort(all, func(a, b Tenant) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Find returns the tenant with that token.
func (b *Registry) Find(ctx context.Context, token string) (t Tenant, ok bool, err error) {
	return b.read(ctx, hashOf(token))
}

// read returns the tenant whose token has the hash.
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
	t = Tenant{Name: text(0), ID: text(1), Created: time.UnixMilli(number(2)), Limits: Limits{number(3), int(number(4))}, hash: hash}
	return t, t.ID != "", nil
}

// fieldsCall returns the call that writes the fields of a tenant.
func (t Tenant) fieldsCall() [][]byte {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return call("HSET", "token:"+t.hash, "name", t.Name, "id", t.ID, "made", number(t.Created.UnixMilli()),
		"bytes", number(t.Bytes), "clients", number(int64(t.Clients)))
}

// hashByName returns the hash of the token of the tenant with that name, or "".
func (b *Registry) hashByName(ctx context.Context, name string) (hash string, err error) {
	v, err := b.engine.Session().Do(ctx, []byte("GET"), []byte("tenant:"+name))
	if err != nil || v.IsError() {
		return "", failed(err, v)
	}
	return string(v.Str), nil
}

// change runs the calls returned by plan in one transaction. plan gets the hash of the tenant's token, or "". If the
// hash changes before the commit, plan is called again.
func (b *Registry) change(ctx context.Context, name string, plan func(hash string) ([][][]byte, error)) error {
	for {
		session := b.engine.Session()
		if v, err := session.Do(ctx, call("WATCH", "tenant:"+name)...); err != nil || v.IsError() {
			return failed(err, v)
		}
		hash, err := b.hashByName(ctx, name)
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

// removeRetry limits the retries of removing a file. Some systems refuse to remove an open file; a server that has it
// open closes it when it notices the change.
const removeRetry = 5 * time.Second

// removeFile removes a file and then its -wal and -shm files.
func removeFile(path string) error {
	late := time.Now().Add(removeRetry)
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
