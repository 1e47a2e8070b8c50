package protocol

import (
	"encoding/binary"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
)

// firstHeaders returns a record, whose length prefix has lengthBytes, with at most its first maxHeaders headers,
// and the bytes of the other headers. kmsg allocates all headers, and each may be as small as two bytes. A
// malformed record is returned unchanged: kmsg detects it.
func firstHeaders(record []byte, lengthBytes int) (with, more []byte) {
	if len(record) < lengthBytes+2*maxHeaders {
		return record, nil
	}
	v := varints{rest: record[lengthBytes+1:]} // after the attributes
	v.next()                                   // time
	v.next()                                   // offset
	v.skip(v.next())                           // key
	v.skip(v.next())                           // value
	countAt := len(record) - len(v.rest)
	count := v.next()
	if count <= maxHeaders || count > int64(len(v.rest))/2 {
		return record, nil
	}
	headersAt := len(record) - len(v.rest)
	for range maxHeaders {
		v.skip(v.next()) // key
		v.skip(v.next()) // value
	}
	moreAt := len(record) - len(v.rest)
	body := slices.Concat(record[lengthBytes:countAt], binary.AppendVarint(nil, maxHeaders), record[headersAt:moreAt])
	return append(binary.AppendVarint(nil, int64(len(body))), body...), record[moreAt:]
}

// varints reads the varints of a record; it returns zeros after the end.
type varints struct{ rest []byte }

func (v *varints) next() int64 {
	value, n := binary.Varint(v.rest)
	v.rest = v.rest[max(n, 0):]
	return value
}

// skip skips n bytes, none if n is negative: -1 means that there is no key or value.
func (v *varints) skip(n int64) { v.rest = v.rest[min(max(n, 0), int64(len(v.rest))):] }

// headers returns the headers of a record, and one without a name that holds the bytes of all headers beyond
// maxHeaders, so that a search covers their content.
func headers(from []kmsg.Header, more []byte) []ingest.Header {
	if len(from) == 0 {
		return nil
	}
	out := make([]ingest.Header, len(from), len(from)+1)
	for i, h := range from {
		out[i] = ingest.Header{Key: h.Key, Value: h.Value}
	}
	if len(more) > 0 {
		out = append(out, ingest.Header{Value: more})
	}
	return out
}
