package requests

import (
	"context"
	"fmt"

	"lethe/deletions"
)

// Get returns the newest status of a request, or ErrUnknown.
func Get(ctx context.Context, topics Bus, requestID string) (deletions.Status, error) {
	byKey, err := newest(ctx, topics)
	if err != nil {
		return deletions.Status{}, err
	}
	if s, known := byKey[requestID]; known {
		return s, nil
	}
	return deletions.Status{}, fmt.Errorf("%w: %s", ErrUnknown, requestID)
}
