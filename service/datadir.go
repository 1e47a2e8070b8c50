package service

import "os"

// othersMay are the rights of a folder that are not its owner's.
const othersMay = 0o077

// closeToOthers takes the rights of others on the data directory, whose stores hold the ids of people. Where a volume
// is another user's, as under Kubernetes, that is for whoever mounts it.
func (s *Service) closeToOthers() {
	dir := s.config.DataDir
	at, err := os.Stat(dir)
	if err != nil || at.Mode().Perm()&othersMay == 0 {
		return
	}
	if err := os.Chmod(dir, at.Mode()&^othersMay); err != nil {
		s.o.Logger.Warn("the data directory is open to other users of this machine: chmod 700 it", "data_dir", dir,
			"error", err)
		return
	}
	s.o.Logger.Warn("the data directory was open to other users of this machine, and is not any more", "data_dir", dir)
}
