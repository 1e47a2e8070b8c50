package process

import "time"

// AwaitEnd waits until the service has ended by itself and returns its exit
// status.
func (s *Service) AwaitEnd() int {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		s.t.Fatalf("the service does not end:\n%s", s.Log())
	}
	return s.cmd.ProcessState.ExitCode()
}
