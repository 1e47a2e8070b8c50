// Package record encodes ledger entries, statuses, acknowledgements and receipts as canonical JSON, reads them
// strictly, and collects all problems at once.
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"lethe"
	"lethe/internal/jcs"
)

// ErrFormat marks bytes of an unknown format or version. Stop and report it.
var ErrFormat = errors.New("not a known format")

// Encode returns canonical JSON (RFC 8785).
func Encode(v any) ([]byte, error) {
	out, err := jcs.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return out, nil
}

// Decode reads one JSON object of a format without unknown members or trailing data. Errors are ErrFormat and repeat
// nothing of the input.
func Decode(data []byte, v any, format string) error {
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("%w: not a JSON object of %d bytes", ErrFormat, len(data))
	}
	if head.Format != format {
		return fmt.Errorf("%w: found %.40q, want %q", ErrFormat, head.Format, format)
	}
	return DecodeMembers(data, v)
}

// EncodeValid is Encode, or the error for an invalid value.
func EncodeValid(what string, v any, invalid error) ([]byte, error) {
	if invalid != nil {
		return nil, fmt.Errorf("%s: %w", what, invalid)
	}
	return Encode(v)
}

// DecodeValid decodes one format and validates the result. what is the prefix of errors.
func DecodeValid[T any](what, format string, data []byte, validate func(*T) error) (T, error) {
	var v, none T
	if err := Decode(data, &v, format); err != nil {
		return none, fmt.Errorf("%s: %w", what, err)
	}
	if err := validate(&v); err != nil {
		return none, fmt.Errorf("%s: %w: %w", what, ErrFormat, err)
	}
	return v, nil
}

// DecodeMembers is Decode without a format.
func DecodeMembers(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return fmt.Errorf("%w: a member is unknown or of the wrong type", ErrFormat)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more after the JSON object", ErrFormat)
	}
	return nil
}

// Problems are descriptions of problems, without personal data.
type Problems []string

// Check adds a problem unless ok.
func (p *Problems) Check(ok bool, format string, args ...any) {
	if !ok {
		*p = append(*p, fmt.Sprintf(format, args...))
	}
}

// Err is nil if there are no problems.
func (p Problems) Err() error {
	errs := make([]error, len(p))
	for i, text := range p {
		errs[i] = errors.New(text)
	}
	return errors.Join(errs...)
}

// Ascending reports whether each element is below the next.
func Ascending[T any](list []T, compare func(a, b T) int) bool {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}

// CompareDigests orders digests by their bytes.
func CompareDigests(a, b lethe.Digest) int { return bytes.Compare(a[:], b[:]) }

// Time returns a time as stored: UTC, milliseconds.
func Time(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Row is a key of a store and its value.
type Row struct{ Key, Value []byte }
