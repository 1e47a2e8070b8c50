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

// DropSpares forgets the batches that are kept to be used again.
func (s *Store) DropSpares() {
	for found := true; found; {
		_, found = s.current.spare.Take()
	}
}
