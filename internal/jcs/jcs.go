package jcs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrNoForm marks what has no canonical form: what is no JSON, an object with two members
// of one name, half a surrogate pair, a number that a float64 does not hold, what is nested
// deeper than maxDepth. Its text does not repeat what was read.
var ErrNoForm = errors.New("no canonical JSON")

// maxDepth is how deep values may be nested, far deeper than any of lethe's.
const maxDepth = 100

// Encode returns a value as canonical JSON. Numbers are those of JSON: an integer that a
// float64 does not hold exactly is ErrNoForm, where it would otherwise become another.
func Encode(v any) ([]byte, error) { return encode(v, false) }

// EncodeExact is Encode, but integers keep all their digits: where one is beyond 2^53, the
// text is not of RFC 8785, and programs that know no other numbers than float64 read it as
// another.
func EncodeExact(v any) ([]byte, error) { return encode(v, true) }

// Transform returns the canonical form of a JSON text.
func Transform(text []byte) ([]byte, error) { return canonical(bytes.Clone(text), false) }

func encode(v any, exact bool) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return canonical(text, exact)
}

// canonical takes the text over. Exact integers stand as they are.
func canonical(text []byte, exact bool) ([]byte, error) {
	if err := check(text, exact); err != nil {
		return nil, err
	}
	out := jsontext.Value(text)
	if err := out.Canonicalize(jsontext.CanonicalizeRawInts(!exact)); err != nil {
		return nil, fmt.Errorf("%w: not JSON", ErrNoForm)
	}
	return out, nil
}

// check refuses what Canonicalize would change without an error, numbers that no float64 holds, and what is nested too
// deep.
func check(text []byte, exact bool) error {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(text))
	for {
		token, err := decoder.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsontext.ErrDuplicateName):
			return fmt.Errorf("%w: an object has two members of one name", ErrNoForm)
		case err != nil:
			return fmt.Errorf("%w: not JSON", ErrNoForm) // nor the library's words, which repeat what was read
		case decoder.StackDepth() > maxDepth:
			return fmt.Errorf("%w: nested deeper than %d", ErrNoForm, maxDepth)
		case token.Kind() == '0' && !held(token, exact):
			return fmt.Errorf("%w: a number that a float64 does not hold", ErrNoForm)
		}
	}
}

// held reports whether a number may stand in a canonical text: one in the range of float64 and, unless integers are
// kept, an integer that a float64 is exactly, or that is written as the float64 nearest to it is.
func held(token jsontext.Token, exact bool) bool {
	number, err := token.Float()
	if err != nil {
		return false
	}
	want, integer := new(big.Int).SetString(token.String(), 10)
	if !integer || exact {
		return true
	}
	if got, _ := big.NewFloat(number).Int(nil); got.Cmp(want) == 0 {
		return true
	}
	written := jsontext.Value(token.String())
	return written.Canonicalize() == nil && string(written) == token.String()
}
