package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	// keptWholeBytes is the largest record that a dead letter stores whole: with the
	// headers of a dead letter it fits the topic.
	keptWholeBytes = 2_000_000
	// keptPartBytes bounds the part of a larger record's value that is stored.
	keptPartBytes = 4096
	// keptHeaders bounds the headers that are stored: the headers of the dead letter follow them
	// and must be among the first 10,000 when it is read again.
	keptHeaders = 5000
	// headerFramingBytes is an upper bound of the framing of a header in a batch.
	headerFramingBytes = 16
)

// cut shortens a record that is too large for any dead-letter topic or has more headers than keptHeaders. It returns
// the remaining record, and a description of the removed parts: "value 3145728 <SHA-256>", and the same for a key and
// for headers, separated by commas. Any other record is returned unchanged.
func cut(rec Record) (Record, string) {
	size := rec.sizeBytes() + headerFramingBytes*len(rec.Headers)
	tooLarge := size > keptWholeBytes
	if !tooLarge && len(rec.Headers) <= keptHeaders {
		return rec, ""
	}
	var gone []string
	whole := func(what string, parts ...[]byte) {
		bytesOfAll := bytes.Join(parts, nil)
		sum := sha256.Sum256(bytesOfAll)
		gone = append(gone, fmt.Sprintf("%s %d %s", what, len(bytesOfAll), hex.EncodeToString(sum[:])))
	}
	if tooLarge && len(rec.Key) > keptPartBytes {
		whole("key", rec.Key)
		rec.Key = nil
	}
	if tooLarge && len(rec.Value) > keptPartBytes {
		whole("value", rec.Value)
		rec.Value = rec.Value[:part(rec.Value, keptPartBytes)]
	}
	if len(rec.Headers) > 0 {
		whole("headers", rec.parts()[1:]...)
		rec.Headers = nil
	}
	return rec, strings.Join(gone, ",")
}

// part returns how many bytes of a value are stored, at most the given number. A search of the
// stored part must still find each id and subject, so none is cut in two: JSON that is valid so far
// is cut after a comma, a colon or a bracket outside of strings; in any other value strings cannot
// be recognized, so it is cut after a control character, which no id and no subject contains.
func part(value []byte, most int) int {
	s := scanner{text: value}
	structured := (s.peek() == '{' || s.peek() == '[') && (s.skip(0) == nil || s.at >= most)
	inText, escaped, end := false, false, 0
	for i, c := range value[:most] {
		switch {
		case !structured:
			if c < ' ' {
				end = i + 1
			}
		case escaped:
			escaped = false
		case inText:
			escaped = c == '\\'
			inText = c != '"'
		case c == '"':
			inText = true
		case strings.IndexByte(",:{}[]", c) >= 0:
			end = i + 1
		}
	}
	return end
}
