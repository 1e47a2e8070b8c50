package receipt

import (
	"fmt"

	"lethe/deletions"
	"lethe/internal/jws"
)

// Payload returns the bytes that the signatures of a receipt are over. It checks nothing.
func Payload(signed []byte) ([]byte, error) {
	d, err := Decode(signed)
	if err != nil {
		return nil, err
	}
	payload, err := jws.Decode(d.Payload)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w: payload: %w", deletions.ErrFormat, err)
	}
	return payload, nil
}
