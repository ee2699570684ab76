package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// The errors of RestoreFunctions that FUNCTION RESTORE has words for, beside ErrFooter and
// ErrFormat.
var (
	// ErrOldFunctions is a library in the form of Redis's release candidates.
	ErrOldFunctions = errors.New("the form of the release candidates of Redis 7.0")
	// ErrNoFunctions is a payload that holds something else.
	ErrNoFunctions = errors.New("not a library of functions")
)

// DumpFunctions returns the sources of libraries of functions as FUNCTION DUMP answers them.
func DumpFunctions(sources [][]byte) []byte {
	var out []byte
	for _, source := range sources {
		out = appendFunction(out, source)
	}
	out = binary.LittleEndian.AppendUint16(out, newest)
	return binary.LittleEndian.AppendUint64(out, checksum(0, out))
}

func appendFunction(out, source []byte) []byte { return appendBytes(append(out, opFunction), source) }

// RestoreFunctions reads what DumpFunctions or FUNCTION DUMP returned.
func RestoreFunctions(payload []byte) (sources [][]byte, err error) {
	if !footed(payload) {
		return nil, ErrFooter
	}
	defer catch(&err)
	// As in Redis a library that is cut off is read into the footer.
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

// footed reports whether a payload ends with a version that can be read and its checksum.
func footed(payload []byte) bool {
	body := len(payload) - footerLength
	return body >= 0 && binary.LittleEndian.Uint16(payload[body:]) <= newest &&
		binary.LittleEndian.Uint64(payload[body+2:]) == checksum(0, payload[:body+2])
}
