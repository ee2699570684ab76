package replicate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// The lease of a directory is the newest version in lease/VERSION/record. A version is created by renaming a
// complete directory: unlike a file, a directory never replaces another one that has content, on any file system.

func (d directory) leases() string { return filepath.Join(string(d), "lease") }

func (d directory) leaseVersion(n uint64) string {
	return filepath.Join(d.leases(), fmt.Sprintf("%016x", n))
}

const leaseRecord = "record"

// newestLease returns the newest version, or 0.
func (d directory) newestLease() (newest uint64, all []uint64, err error) {
	entries, err := os.ReadDir(d.leases())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	for _, e := range entries {
		if n, bad := strconv.ParseUint(e.Name(), 16, 64); bad == nil && len(e.Name()) == 16 {
			newest, all = max(newest, n), append(all, n)
		}
	}
	return newest, all, err
}

func (d directory) readLease(context.Context) (record []byte, version string, err error) {
	for attempt := 1; ; attempt++ {
		newest, _, err := d.newestLease()
		if err != nil || newest == 0 {
			return nil, "", err
		}
		record, err = os.ReadFile(filepath.Join(d.leaseVersion(newest), leaseRecord))
		if errors.Is(err, fs.ErrNotExist) && attempt < attempts { // removed since, so there is a newer one
			continue
		}
		return record, strconv.FormatUint(newest, 16), err
	}
}

func (d directory) writeLease(_ context.Context, record []byte, version string) (string, error) {
	before := uint64(0)
	if version != "" {
		var err error
		if before, err = strconv.ParseUint(version, 16, 64); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(d.leases(), 0o700); err != nil {
		return "", err
	}
	if newest, _, err := d.newestLease(); err != nil || newest != before {
		return "", errors.Join(err, errExists)
	}
	made, err := os.MkdirTemp(d.leases(), partialFile)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made)
	if err := writeSynced(filepath.Join(made, leaseRecord), record); err != nil {
		return "", err
	}
	if err := os.Rename(made, d.leaseVersion(before+1)); err != nil {
		if _, missing := os.Lstat(d.leaseVersion(before + 1)); missing == nil {
			err = errExists
		}
		return "", err
	}
	syncDirectory(d.leases())
	// A process that hung before it renamed may have created a version that the holder had already removed.
	newest, all, err := d.newestLease()
	if err != nil {
		return "", err
	}
	if newest != before+1 {
		return "", errExists
	}
	for _, n := range all {
		if n < before {
			os.RemoveAll(d.leaseVersion(n))
		}
	}
	return strconv.FormatUint(newest, 16), nil
}

func (d directory) checkLease(context.Context) error { return nil }

func writeSynced(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDirectory makes new names in a directory survive a power cut, on systems that can.
func syncDirectory(path string) {
	if dir, err := os.Open(path); err == nil {
		dir.Sync()
		dir.Close()
	}
}
