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
	version       = 10 // what Append writes
	versionExpiry = 12 // what a hash with fields that expire needs, and a vector set
	newest        = 12 // what can be read

	footerLength = 2 + 8 // version and checksum
)

var (
	// ErrFooter is a payload of an unknown version or with a wrong checksum.
	ErrFooter = errors.New("the version or the checksum is wrong")
	// ErrFormat is a value that is damaged or of an unknown type.
	ErrFormat = errors.New("bad data format")
)

// Dump returns the value as DUMP of Redis 8.0 answers it: encoded, with version and
// checksum. Redis reads it from 7.4 on.
func Dump(v Value) []byte {
	var out []byte
	switch v := v.(type) {
	case Set:
		out = v.dump()
	case *Stream:
		out = v.dump()
	default:
		out = v.append(nil)
	}
	out = binary.LittleEndian.AppendUint16(out, newest)
	return binary.LittleEndian.AppendUint64(out, checksum(0, out))
}

// Restore reads what DUMP answered. The error is ErrFooter or ErrFormat.
func Restore(payload []byte) (Value, error) {
	if !footed(payload) {
		return nil, ErrFooter
	}
	v, err := newReader(bytes.NewReader(payload[:len(payload)-footerLength])).typed()
	if err != nil {
		return nil, ErrFormat
	}
	return v, nil
}

// jones is the polynomial of Redis's CRC, in the reflected form.
var jones = sync.OnceValue(func() *crc64.Table { return crc64.MakeTable(bits.Reverse64(0xad93d23594c935a9)) })

// checksum goes on with the CRC of what came before, which is 0 at the beginning.
// Go's form of a CRC complements before and after; Redis's does not.
func checksum(crc uint64, b []byte) uint64 { return ^crc64.Update(^crc, jones(), b) }
