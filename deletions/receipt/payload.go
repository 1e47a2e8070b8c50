package receipt

import (
	"fmt"

	"lethe/deletions"
	"lethe/internal/jws"
)

// Payload returns the signed bytes of a receipt, unchecked.
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
