package requests

import (
	"context"
	"fmt"

	"lethe/deletions"
)

// Get returns the newest status of a request, or ErrUnknown.
func Get(ctx context.Context, topics Bus, requestID string) (deletions.Status, error) {
	all := Follow(topics)
	if err := all.read(ctx); err != nil {
		return deletions.Status{}, err
	}
	if s, known := all.newest[requestID]; known {
		return s, nil
	}
	return deletions.Status{}, fmt.Errorf("%w: %s", ErrUnknown, requestID)
}
