package rdb

import (
	"bufio"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"math"
	"strconv"

	"github.com/meowdis/meowdis/redis/resp"
)

// Digest is the fingerprint of DEBUG DIGEST and DEBUG DIGEST-VALUE in Redis. It does not depend on the order of keys,
// members and fields, nor on how a value is stored. It ignores when a key expires, and the groups of a stream. Redis
// leaves the digest of a module's value to the module, so vector sets and values of other modules differ from Redis.
type Digest [sha1.Size]byte

// String returns the digest as 40 hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// add combines the digest with the hash of b, in any order.
func (d *Digest) add(b []byte) {
	sum := sha1.Sum(b)
	d.xor(sum[:])
}

func (d *Digest) xor(sum []byte) {
	for i, c := range sum {
		d[i] ^= c
	}
}

// then combines the digest with the hash of b, in order.
func (d *Digest) then(b []byte) {
	d.add(b)
	*d = sha1.Sum(d[:])
}

func (d *Digest) thenNumber(n uint32) { d.then(binary.BigEndian.AppendUint32(nil, n)) }

// ValueDigest returns the digest of one value. expires is set if its key expires.
func ValueDigest(v Value, expires bool) Digest {
	var d valueDigest
	d.begin(v)
	d.piece(v)
	d.end(expires)
	return d.Digest
}

// FileDigest reads a whole dump file, and returns the digest of its keys.
func FileDigest(in io.Reader) (Digest, error) {
	var all Digest
	var key valueDigest
	db := -1
	for f := NewFile(bufio.NewReader(in), nil); ; {
		switch p, err := f.Next(); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return all, err
		case p.Err != nil:
			return all, p.Err
		default:
			if p.DB != db {
				db = p.DB
				all.thenNumber(uint32(db))
			}
			if p.First {
				key = valueDigest{}
				key.then(p.Key)
				key.begin(p.Value)
			}
			if key.piece(p.Value); p.Last {
				key.end(p.ExpiresAt != 0)
				all.add(key.Digest[:])
			}
		}
	}
}

// valueDigest computes the digest of a value that comes in pieces.
type valueDigest struct {
	Digest
	text hash.Hash // the pieces of a string
}

// digestType returns Redis's number of a type.
func digestType(v Value) uint32 {
	switch v.(type) {
	case String:
		return 0
	case List:
		return 1
	case Set:
		return 2
	case ZSet:
		return 3
	case Hash:
		return 4
	case *Stream:
		return 6
	}
	return 5 // of a module
}

func (d *valueDigest) begin(v Value) {
	d.thenNumber(digestType(v))
	if _, ok := v.(String); ok {
		d.text = sha1.New()
	}
}

func (d *valueDigest) piece(v Value) {
	switch v := v.(type) {
	case String:
		d.text.Write(v)
	case List:
		for _, element := range v {
			d.then(element)
		}
	case Set:
		for _, member := range v {
			d.add(member)
		}
	case ZSet:
		for _, m := range v {
			d.pair(m.Name, scoreText(m.Score), false)
		}
	case Hash:
		for _, f := range v {
			d.pair(f.Name, f.Value, f.ExpiresAt != 0)
		}
	case *Stream:
		for _, e := range v.Entries {
			d.then(strconv.AppendUint(append(strconv.AppendUint(nil, e.ID.Ms, 10), '.'), e.ID.Seq, 10))
			for _, text := range e.Fields {
				d.then(text)
			}
		}
	default:
		d.then(v.append(nil))
	}
}

func (d *Digest) pair(name, value []byte, expires bool) {
	var pair Digest
	pair.then(name)
	pair.then(value)
	if expires {
		pair.add([]byte("!!hexpire!!"))
	}
	d.add(pair[:])
}

func (d *valueDigest) end(expires bool) {
	if d.text != nil {
		d.xor(d.text.Sum(nil))
		d.Digest = sha1.Sum(d.Digest[:])
	}
	if expires {
		d.add([]byte("!!expire!!"))
	}
}

// scoreText formats a score as Redis 8.0 does in memory: a whole number has an exponent if that is shorter.
func scoreText(f float64) []byte {
	if f == 0 || math.IsInf(f, 0) {
		return []byte(resp.FormatDouble(f))
	}
	return []byte(resp.FormatShortest(f))
}
