package calibrate

import (
	"testing"

	"lethe/internal/fuzzing"
)

func FuzzDecode(f *testing.F) {
	none := &Calibration{method: None, slope: 1}
	platt := &Calibration{method: Platt, slope: 0.7, intercept: -1}
	isotonic := &Calibration{method: Isotonic, slope: 1, knots: []knot{{-2, 0}, {0, 0.25}, {1, 0.25}, {3, 1}}}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		c, err := Decode(message)
		if err != nil {
			return nil, err
		}
		c.Apply(0.5)
		return c.Encode(), nil
	}, none.Encode(), platt.Encode(), isotonic.Encode())
}
