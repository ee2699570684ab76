package rdb

import "encoding/binary"

// StringPayload is the first byte of a payload of a string.
const StringPayload = typeString

// Portable returns a payload of Dump in the form that the most versions of Redis restore: Redis 7.0 and later, or 7.4
// for fields that expire, or 8.0 for vector sets. ok is false for a value of a module that Redis does not contain.
// Portable calls step as Dump does.
func Portable(payload []byte, step func(bytes int)) (portable []byte, ok bool) {
	v, err := Restore(payload, step)
	if err != nil {
		return nil, false
	}
	needs := version
	switch v := v.(type) {
	case *Module:
		return nil, false
	case *VectorSet:
		needs = versionExpiry
	case Hash:
		if v.firstExpiry() > 0 {
			needs = versionExpiry
		}
	}
	out := binary.LittleEndian.AppendUint16(v.append(nil), uint16(needs))
	return binary.LittleEndian.AppendUint64(out, checksumOf(out, step)), true
}
