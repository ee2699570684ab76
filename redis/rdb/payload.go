package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc64"
	"math/bits"
	"sync"
)

const (
	version       = 10 // default of files and payloads
	versionExpiry = 12 // for hash fields that expire, and vector sets
	newestVersion = 12 // newest readable version

	footerLength = 2 + 8 // version and checksum
)

var (
	// ErrFooter reports an unknown version or a wrong checksum.
	ErrFooter = errors.New("wrong version or checksum")
	// ErrFormat reports a value that is damaged or of an unknown type.
	ErrFormat = errors.New("bad data format")
)

// Dump returns the payload of DUMP in Redis 8.0: the encoded value, version and checksum.
// Redis 7.4 and later can restore it. Dump calls step, if not nil, with the number of bytes in each piece of work.
func Dump(v Value, step func(bytes int)) []byte {
	var out []byte
	switch v := v.(type) {
	case Set:
		out = v.dump()
	case *Stream:
		out = v.dump()
	default:
		out = v.append(nil)
	}
	out = binary.LittleEndian.AppendUint16(out, newestVersion)
	return binary.LittleEndian.AppendUint64(out, checksumOf(out, step))
}

// Restore parses a payload of DUMP. The error is ErrFooter or ErrFormat. Restore calls step, if not nil, with the number
// of bytes in each piece of work.
func Restore(payload []byte, step func(bytes int)) (Value, error) {
	if !hasFooter(payload, step) {
		return nil, ErrFooter
	}
	v, err := newReader(bytes.NewReader(payload[:len(payload)-footerLength])).typed()
	if err != nil {
		return nil, ErrFormat
	}
	return v, nil
}

// jones returns the table of Redis's CRC polynomial, in reflected form.
var jones = sync.OnceValue(func() *crc64.Table { return crc64.MakeTable(bits.Reverse64(0xad93d23594c935a9)) })

// checksumOf returns the checksum of b. It calls step, if not nil, with the number of bytes of each piece.
func checksumOf(b []byte, step func(bytes int)) (sum uint64) {
	const piece = 16 << 10
	for len(b) > 0 {
		n := min(len(b), piece)
		if step != nil {
			step(n)
		}
		sum, b = checksum(sum, b[:n]), b[n:]
	}
	return sum
}

// checksum extends crc by b; the initial crc is 0. Go's CRC complements before and after;
// Redis's does not.
func checksum(crc uint64, b []byte) uint64 { return ^crc64.Update(^crc, jones(), b) }
