package scoring

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrPrediction marks bytes or values that are not a prediction. The caller should send the record
// to the dead-letter queue; the error never repeats its content, which identifies a person's
// transaction.
var ErrPrediction = errors.New("not a valid prediction")

// EncodePrediction returns the prediction as compact JSON with its fields in
// the order of the struct; equal predictions have equal bytes. It returns
// ErrPrediction if the prediction is not valid.
func EncodePrediction(p *Prediction) ([]byte, error) {
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrediction, err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("%w: fields do not encode as JSON", ErrPrediction)
	}
	return data, nil
}

// DecodePrediction decodes and validates a prediction. Unknown fields are ignored, so that a newer
// writer can add some. It returns ErrPrediction for anything else.
func DecodePrediction(data []byte) (*Prediction, error) {
	p := new(Prediction)
	if err := json.Unmarshal(data, p); err != nil {
		// The decoder's error may quote the record.
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			return nil, fmt.Errorf("%w: JSON syntax error at byte %d of %d", ErrPrediction, syntax.Offset, len(data))
		case errors.As(err, &kind):
			return nil, fmt.Errorf("%w: value of the wrong kind before byte %d of %d", ErrPrediction, kind.Offset, len(data))
		default:
			return nil, fmt.Errorf("%w: a field does not decode", ErrPrediction)
		}
	}
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrediction, err)
	}
	return p, nil
}
