package replicate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/superfly/ltx"
)

// record holds the lease of a place. Servers replace it by compare and set.
type record struct {
	Fence    uint64 `json:"fence"`              // fencing number, one higher for each holder
	Owner    string `json:"owner"`              // random, one per process
	Server   string `json:"server"`             // for messages
	TTL      int64  `json:"ttl_ms"`             // the lease ends this long after the last change of the record
	Renewal  uint64 `json:"renewal"`            // changes with each renewal
	Released bool   `json:"released,omitempty"` // the holder has stopped
	// Failover is set by the holder. From then on it acknowledges writes only before its lease ends, and only then
	// a standby may take the lease.
	Failover bool   `json:"failover,omitempty"`
	Standby  uint64 `json:"standby,omitempty"` // increased by standbys that ask for Failover
	Seals    []seal `json:"seals,omitempty"`
}

// seal ends the transactions of earlier holders: later ones are not part of the stream (invariant 5 of
// docs/design/failover.md).
type seal struct {
	After uint64 `json:"after"` // the last transaction before Fence
	Fence uint64 `json:"fence"`
}

// fenceShift separates the fencing number of a transaction from a counter in the low bits: enough for
// 1000 uploads a second during 34 years.
const fenceShift = 40

// fenceOf returns the fencing number of a transaction; 0 for a server without a lease.
func fenceOf(id ltx.TXID) uint64 { return uint64(id) >> fenceShift }

// sealed reports whether a transaction is not part of the stream.
func (r *record) sealed(id ltx.TXID) bool {
	return slices.ContainsFunc(r.Seals, func(s seal) bool {
		return uint64(id) > s.After && fenceOf(id) < s.Fence
	})
}

// seal adds a seal, and removes the seals that it covers.
func (r *record) seal(s seal) {
	r.Seals = slices.DeleteFunc(slices.Clone(r.Seals), func(old seal) bool { return s.After <= old.After })
	r.Seals = append(r.Seals, s)
}

func (r *record) ttl() time.Duration { return time.Duration(r.TTL) * time.Millisecond }

// lease reads the lease of the place; its version is "" if it has none. It remembers the seals.
func (p *Place) lease(ctx context.Context) (r record, version string, err error) {
	b, version, err := p.readLease(ctx)
	if err != nil {
		return r, "", fmt.Errorf("reading the lease of %s: %w", p, err)
	}
	if version == "" {
		return r, "", nil
	}
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&r); err != nil {
		return r, "", fmt.Errorf("the lease of %s is damaged: %w", p, err)
	}
	p.remember(&r)
	return r, version, nil
}

// swap replaces the lease if its version is still the given one, and returns the new version. errExists means that
// another server was faster.
func (p *Place) swap(ctx context.Context, r *record, version string) (string, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	version, err = p.writeLease(ctx, b, version)
	if err != nil {
		return "", fmt.Errorf("writing the lease of %s: %w", p, err)
	}
	p.remember(r)
	return version, nil
}

func (p *Place) remember(r *record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Fence >= p.latest.Fence {
		p.latest = *r
	}
}

// valid returns the files that are part of the stream. It reads the lease if a file is newer than the last one that
// was read.
func (p *Place) valid(ctx context.Context, files []*ltx.FileInfo) ([]*ltx.FileInfo, error) {
	newest := uint64(0)
	for _, f := range files {
		newest = max(newest, fenceOf(f.MaxTXID))
	}
	p.mu.Lock()
	latest := p.latest
	p.mu.Unlock()
	if newest > latest.Fence || newest > 0 && len(latest.Seals) == 0 {
		if _, _, err := p.lease(ctx); err != nil {
			return nil, err
		}
		p.mu.Lock()
		latest = p.latest
		p.mu.Unlock()
	}
	return slices.DeleteFunc(files, func(f *ltx.FileInfo) bool { return latest.sealed(f.MaxTXID) }), nil
}

// isSealed reports whether a transaction is known not to be part of the stream.
func (p *Place) isSealed(id ltx.TXID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest.sealed(id)
}
