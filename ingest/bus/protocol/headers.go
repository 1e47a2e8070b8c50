package protocol

import (
	"encoding/binary"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
)

// firstHeaders returns a record, whose length takes so many bytes, with no more than its first maxHeaders headers,
// and the bytes of the others: kmsg makes room for as many as there are, and each may be of two bytes. What is not as
// records are is returned as it is: kmsg finds it.
func firstHeaders(record []byte, lengthBytes int) (with, more []byte) {
	if len(record) < lengthBytes+2*maxHeaders {
		return record, nil
	}
	v := varints{rest: record[lengthBytes+1:]} // behind the attributes
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

// varints reads numbers as records hold them; it gives zeros behind the end.
type varints struct{ rest []byte }

func (v *varints) next() int64 {
	value, n := binary.Varint(v.rest)
	v.rest = v.rest[max(n, 0):]
	return value
}

// skip passes over some bytes, none if their number is negative: -1 stands for no
// key or value.
func (v *varints) skip(n int64) { v.rest = v.rest[min(max(n, 0), int64(len(v.rest))):] }

// headers are those of a record, and one without a name that holds the bytes of all that are beyond maxHeaders, so that
// a search finds what they say.
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
