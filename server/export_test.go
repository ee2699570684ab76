package server

const LongEnough = longEnough

// Held is how many bytes requests hold of what they may together.
func (s *Server) Held() int64 { return s.memory.Used() }
