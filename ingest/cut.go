package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	// keptWholeBytes is how large a record may be to be kept whole as a dead letter:
	// with the headers of a dead letter it fits the topic.
	keptWholeBytes = 2_000_000
	// keptPartBytes bounds what is kept of the value of a larger one.
	keptPartBytes = 4096
	// keptHeaders bounds the headers that are kept: those that say why a record is a dead letter come behind them,
	// and must be among the first 10,000 when it is read again.
	keptHeaders = 5000
	// headerFramingBytes is at most what surrounds a header in a batch.
	headerFramingBytes = 16
)

// cut returns of a record that no topic of dead letters would take, or that has more headers
// than keptHeaders, what is kept of it, and describes what is not: "value 3145728 <SHA-256>",
// and the same of a key and of headers, separated by commas. Another record is returned as it is.
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

// part returns how much of a value is kept, at most the given number of bytes. A
// search for an id or a subject must still find it in what is kept, so the cut is never
// inside of one: in JSON that is whole so far it is behind a comma, a colon or a bracket outside
// of texts; in all else nobody can tell what is a text, and it is behind a control character, which
// no id and no subject has.
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
