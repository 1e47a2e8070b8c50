package swapstore

// Generation counts the store's rewrites, from 1. It is 0 after Close.
func (s *Store) Generation() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.current == nil {
		return 0
	}
	return s.current.number
}
