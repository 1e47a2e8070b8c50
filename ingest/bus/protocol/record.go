package protocol

import (
	"github.com/twmb/franz-go/pkg/kbin"

	"lethe/ingest"
)

// record is a record of a batch. It shares memory with the batch.
type record struct {
	// offset and timeMillis count from those of the batch.
	offset     int32
	timeMillis int64
	key, value []byte
	headers    []ingest.Header
}

// nextRecord reads the record at the start of body, whose fields must fill exactly its bytes, and returns the rest.
// With headers, at most maxHeaders are decoded, because each may be as small as two bytes: one without a name holds
// the bytes of all others, so that a search covers their content.
func nextRecord(body []byte, withHeaders bool) (r record, rest []byte, ok bool) {
	all := kbin.Reader{Src: body}
	b := kbin.Reader{Src: all.Span(int(all.Varint()))}
	b.Int8() // attributes
	r.timeMillis, r.offset = b.Varlong(), b.Varint()
	r.key, r.value = b.VarintBytes(), b.VarintBytes()
	count := int(b.Varint())
	if !b.Ok() || count < 0 || count > len(b.Src)/2 {
		return r, nil, false
	}
	if withHeaders && count > 0 {
		r.headers = make([]ingest.Header, 0, min(count, maxHeaders)+1)
	}
	for i := 0; i < count && b.Ok(); i++ {
		if withHeaders && i == maxHeaders {
			r.headers = append(r.headers, ingest.Header{Value: b.Src})
		}
		key, value := b.Span(int(b.Varint())), b.VarintBytes()
		if withHeaders && i < maxHeaders {
			r.headers = append(r.headers, ingest.Header{Key: string(key), Value: value})
		}
	}
	return r, all.Src, b.Ok() && len(b.Src) == 0
}
