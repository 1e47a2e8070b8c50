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

// ErrNoForm marks input without a canonical form: invalid JSON, an object with a repeated name,
// half a surrogate pair, a number outside float64, or nesting deeper than maxDepth. Its text does
// not repeat the input.
var ErrNoForm = errors.New("no canonical JSON")

// maxDepth bounds the nesting of values, far above any of lethe's documents.
const maxDepth = 100

// Encode returns a value as canonical JSON. An integer that float64 cannot represent exactly is
// ErrNoForm; otherwise it would silently change.
func Encode(v any) ([]byte, error) { return encode(v, false) }

// EncodeExact is Encode that keeps all digits of integers. A text with an integer beyond 2^53
// does not follow RFC 8785, and programs limited to float64 read a different number.
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

// canonical reuses the memory of text. With exact, integers stay as written.
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

// check rejects input that Canonicalize would change silently, numbers outside float64, and nesting that is too
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
			return fmt.Errorf("%w: not JSON", ErrNoForm) // the library's message would repeat the input
		case decoder.StackDepth() > maxDepth:
			return fmt.Errorf("%w: nested deeper than %d", ErrNoForm, maxDepth)
		case token.Kind() == '0' && !held(token, exact):
			return fmt.Errorf("%w: a number that a float64 does not hold", ErrNoForm)
		}
	}
}

// held reports whether a canonical text may contain a number: it is in the range of float64 and, unless exact, an
// integer is exactly representable or written as its nearest float64.
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
