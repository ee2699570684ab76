package translator

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/meowdis/meowdis/redis/resp"
)

// packedReply sorts all elements of a key by themselves, or not at all.
func (s *sortCall) packedReply(p *packing) Plan {
	number := true
	key, compare := func(text []byte) int64 {
		score, ok := looseFloat(text)
		number = number && ok
		return scoreKey(score)
	}, bytes.Compare
	if s.alpha {
		key, compare = textKey, func(a, b []byte) int { return bytes.Compare(cString(a), cString(b)) }
	}
	if !s.unsorted {
		s.work.Grow(p.rows.SortBytes())
		p.rows.SortBy(func(text []byte) int64 {
			s.work.Step(stepsPerSorted + len(text))
			return key(text)
		}, compare, func(int) { s.work.Step(stepsPerSorted) })
		if s.desc {
			p.rows.Reverse()
		}
	}
	if !number {
		return fail(errNotScore)
	}
	reply, _ := p.reply(resp.Array, s.work)
	return answer(reply)
}

// scoreKey returns an integer with the order of the doubles. -0 equals 0.
func scoreKey(score float64) int64 {
	if score == 0 {
		return 0
	}
	bits := int64(math.Float64bits(score))
	if bits < 0 {
		bits ^= math.MaxInt64
	}
	return bits
}

// textKey returns an integer with the order of the first eight bytes of the texts up to a NUL.
func textKey(text []byte) int64 {
	var first [8]byte
	copy(first[:], cString(text))
	return int64(binary.BigEndian.Uint64(first[:]) ^ 1<<63)
}
