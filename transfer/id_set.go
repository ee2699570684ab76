package transfer

// idSet records numbers, in a bit each if they are dense.
type idSet map[int64]*[idBlock / 64]uint64

const (
	idBlockBits = 16
	idBlock     = 1 << idBlockBits
)

func (s *idSet) add(id int64) {
	if *s == nil {
		*s = idSet{}
	}
	block := (*s)[id>>idBlockBits]
	if block == nil {
		block = new([idBlock / 64]uint64)
		(*s)[id>>idBlockBits] = block
	}
	at := uint64(id) % idBlock
	block[at/64] |= 1 << (at % 64)
}

func (s idSet) has(id int64) bool {
	block, at := s[id>>idBlockBits], uint64(id)%idBlock
	return block != nil && block[at/64]&(1<<(at%64)) != 0
}
