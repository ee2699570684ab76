package slot

import (
	"bytes"
	"strconv"
	"sync"
)

// Count is the number of slots.
const Count = 16384

// Of returns the slot of a key. Only the part between the first { and the next } is hashed, unless it is empty.
func Of(key []byte) int {
	if from := bytes.IndexByte(key, '{'); from >= 0 {
		if n := bytes.IndexByte(key[from+1:], '}'); n > 0 {
			key = key[from+1 : from+1+n]
		}
	}
	crc := uint16(0) // CRC-16/XMODEM
	for _, b := range key {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc % Count)
}

// tags holds a short text in each slot.
var tags = sync.OnceValue(func() *[Count]string {
	var found [Count]string
	for n, missing := int64(0), Count; missing > 0; n++ {
		tag := strconv.FormatInt(n, 36)
		if at := Of([]byte(tag)); found[at] == "" {
			found[at], missing = tag, missing-1
		}
	}
	return &found
})

// Tag returns a text without braces that is in the slot: a key with {Tag} as its first braces is in the slot, too.
func Tag(slot int) string { return tags()[slot] }
