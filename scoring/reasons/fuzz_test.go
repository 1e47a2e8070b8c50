package reasons

import (
	"testing"

	"lethe/internal/fuzzing"
)

func FuzzDecode(f *testing.F) {
	fuzzing.Plain(f, func(value []byte) error {
		r, err := Decode(value)
		if err == nil {
			_, err = r.Encode()
		}
		return err
	}, []byte(`{"transaction":"a","timestep":1,"ensemble_version":"`+
		`0100000000000000000000000000000000000000000000000000000000000000","components":[{"reasons":[{"code":"S"}]}]}`))
}
