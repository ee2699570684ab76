package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Errors of RestoreFunctions that FUNCTION RESTORE reports in its own words, besides ErrFooter
// and ErrFormat.
var (
	// ErrOldFunctions reports a library in the format of Redis's release candidates.
	ErrOldFunctions = errors.New("the format of Redis 7.0's release candidates is not supported")
	// ErrNoFunctions reports a payload without functions.
	ErrNoFunctions = errors.New("not a library of functions")
)

// DumpFunctions returns the sources of libraries as FUNCTION DUMP's payload.
func DumpFunctions(sources [][]byte) []byte {
	var out []byte
	for _, source := range sources {
		out = appendFunction(out, source)
	}
	out = binary.LittleEndian.AppendUint16(out, newestVersion)
	return binary.LittleEndian.AppendUint64(out, checksum(0, out))
}

func appendFunction(out, source []byte) []byte { return appendBytes(append(out, opFunction), source) }

// RestoreFunctions parses a payload of FUNCTION DUMP.
func RestoreFunctions(payload []byte) (sources [][]byte, err error) {
	if !hasFooter(payload, nil) {
		return nil, ErrFooter
	}
	defer catch(&err)
	// As in Redis, a truncated library is read into the footer.
	in := bytes.NewReader(payload)
	r := &reader{r: in}
	for in.Len() > footerLength {
		switch r.byte() {
		case opFunction:
			sources = append(sources, r.string())
		case opFunctionOld:
			return nil, ErrOldFunctions
		default:
			return nil, ErrNoFunctions
		}
	}
	return sources, nil
}

// hasFooter reports whether a payload ends with a readable version and the right checksum. step is as for Restore.
func hasFooter(payload []byte, step func(bytes int)) bool {
	body := len(payload) - footerLength
	return body >= 0 && binary.LittleEndian.Uint16(payload[body:]) <= newestVersion &&
		binary.LittleEndian.Uint64(payload[body+2:]) == checksumOf(payload[:body+2], step)
}
