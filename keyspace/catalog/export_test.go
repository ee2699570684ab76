package catalog

// InParts makes s read slice keys per Look and write runs of length places.
func (s *Sorting) InParts(slice, length int) *Sorting {
	s.slice, s.length = int64(slice), length
	return s
}
