package replicate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/meowdis/meowdis/internal/lockfile"
)

// LeaseFile is the file NAME-lease beside a database. It is locked while a process has the lease of a place, and names
// its last lease.
type LeaseFile struct {
	file *os.File
	path string // absolute
	last leaseFile
}

type leaseFile struct {
	Place string `json:"place"`
	Boot  string `json:"boot"`            // the system's start: with Path, a copied file says nothing about running processes
	Path  string `json:"path"`            // absolute, of this file
	Fence uint64 `json:"fence,omitempty"` // of the lease that last streamed the database
	Held
}

const leaseSuffix = "-lease"

// OpenLeaseFile opens and locks the file beside the database at path. It waits until ctx ends for a process that has it
// locked, which may be about to end.
func OpenLeaseFile(ctx context.Context, path string) (*LeaseFile, error) {
	path, err := filepath.Abs(path + leaseSuffix)
	if err != nil {
		return nil, err
	}
	f, err := lockfile.Wait(ctx, path)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("another process streams or follows with this file: %s is in use", path)
	}
	if err != nil {
		return nil, err
	}
	l := &LeaseFile{file: f, path: path}
	b, err := io.ReadAll(io.LimitReader(f, maxLease))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading %s: %w", path, err), f.Close())
	}
	if json.Unmarshal(b, &l.last) != nil { // cut off by a power cut
		l.last = leaseFile{}
	}
	return l, nil
}

// Previous returns the owner of the place's lease whose process has ended for certain: it had this file locked, on this
// machine. It returns "" if that is not known.
func (l *LeaseFile) Previous(p *Place) string {
	if boot := bootID(); boot == "" || l.last.Boot != boot || l.last.Path != l.path || l.last.Place != p.String() {
		return ""
	}
	return l.last.Owner
}

// Wrote reports whether the database was the last that this file's holder wrote to the place.
func (l *LeaseFile) Wrote(p *Place) bool { return l.last.Owner != "" && l.last.Place == p.String() }

// Alone reports whether no standby could have taken over from this file's last holder.
func (l *LeaseFile) Alone(p *Place) bool { return l.Wrote(p) && !l.last.Failover }

// Remember records the lease of the process. It survives a power cut.
func (l *LeaseFile) Remember(p *Place, h Held) error {
	next := leaseFile{Place: p.String(), Boot: bootID(), Path: l.path, Held: h}
	if l.last.Place == next.Place {
		next.Fence = l.last.Fence
	}
	return l.write(next)
}

// Fence returns the fencing number of the lease that last streamed the database to the place, or 0.
func (l *LeaseFile) Fence(p *Place) uint64 {
	if l.last.Place != p.String() {
		return 0
	}
	return l.last.Fence
}

// RememberFence records the fencing number of the lease that streams the database from now on.
func (l *LeaseFile) RememberFence(fence uint64) error {
	next := l.last
	next.Fence = fence
	return l.write(next)
}

func (l *LeaseFile) write(next leaseFile) error {
	l.last = next
	b, err := json.Marshal(l.last)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	if _, err := l.file.WriteAt(append(b, '\n'), 0); err != nil {
		return err
	}
	return l.file.Sync()
}

// Close unlocks the file.
func (l *LeaseFile) Close() error { return l.file.Close() }

// bootID identifies the time since the system's start, or is "" if the system does not say.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
