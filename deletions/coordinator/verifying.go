package coordinator

import (
	"context"

	"lethe/deletions"
	"lethe/deletions/scan"
)

// verifying makes a search for what should be gone, to be run beside the loop, as
// soon as the other roles have searched their folders. One request is verified at
// a time.
func (s *states) verifying(_ context.Context, e deletions.Entry) (deletions.Entry, error) {
	if s.verification.search != nil {
		return e, nil
	}
	var others scan.Summary
	for _, role := range []string{trainRole, scoreRole} {
		a, ok := s.acks.of(e, role, deletions.StepScanned)
		if !ok {
			return e, nil
		}
		others = others.Add(*a.Scan)
	}
	scanner, err := scan.NewScanner(s.o.Secret, e.Progress.Fingerprints)
	if err != nil {
		return e, err
	}
	s.verification.search, s.verification.handed = &Search{
		requestID: e.RequestID, scanner: scanner, others: others, timeout: s.o.VerifyTimeout,
	}, false
	return e, nil
}
