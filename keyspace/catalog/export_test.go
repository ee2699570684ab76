package catalog

// InParts makes s read slice keys per ReadSlice and write runs of length places.
func (s *Sorting) InParts(slice, length int) *Sorting {
	s.slice, s.runLength = int64(slice), length
	return s
}
