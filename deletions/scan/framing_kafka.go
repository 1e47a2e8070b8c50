package scan

import (
	"encoding/binary"

	"lethe"
)

// mostRecordHeadBytes bounds what precedes a key's length in a Kafka record: length, attributes, time and offset.
const mostRecordHeadBytes = 5 + 1 + 10 + 5

// isRecordKey reports whether a key's length begins at a place, by the form and length of the record around it.
func isRecordKey(buf []byte, at int) bool {
	for attributes := at - 3; attributes >= max(1, at-mostRecordHeadBytes); attributes-- {
		if buf[attributes] != 0 {
			continue
		}
		next, ok := pastVarint(buf, attributes+1)
		if ok {
			next, ok = pastVarint(buf, next)
		}
		if !ok || next != at {
			continue
		}
		for size := 1; size <= 5 && size <= attributes; size++ {
			length, read := binary.Varint(buf[attributes-size : attributes])
			if read == size && length > 0 && endsRecord(buf, at, int64(attributes)+length) {
				return true
			}
		}
	}
	return false
}

func pastVarint(buf []byte, at int) (next int, ok bool) {
	_, n := binary.Varint(buf[at:])
	return at + n, n > 0
}

// endsRecord reports whether a record with its key's length at a place ends at another, as far as the buffer goes.
func endsRecord(buf []byte, at int, end int64) bool {
	parts, isWhole := 2, false // key and value
	for next := int64(at); ; {
		if next > end {
			return false
		}
		if next >= int64(len(buf)) {
			return true
		}
		length, n := binary.Varint(buf[next:])
		if n <= 0 {
			return len(buf)-int(next) < binary.MaxVarintLen64
		}
		next += int64(n)
		switch {
		case parts > 0:
			next += max(0, length)
			parts--
		case !isWhole: // the number of headers
			if length < 0 || length > end-next {
				return false
			}
			parts, isWhole = 2*int(length), true
		}
		if parts == 0 && isWhole {
			return next == end
		}
	}
}

// mostMessageBytes bounds what precedes a name in a Protobuf message.
const mostMessageBytes = 16 + lethe.MaxNameBytes

// protobufName returns the length of a name that is the first or second field of a message of Confluent's
// serializers.
func protobufName(buf []byte, at int) (length uint64, found bool) {
	const first, second = 1<<3 | 2, 2<<3 | 2
	for start := at - 1; start >= max(0, at-mostMessageBytes); start-- {
		body, ok := messageBody(buf, start)
		if !ok {
			continue
		}
		for _, tag := range [...]byte{first, second} {
			if body >= at || buf[body] != tag {
				continue
			}
			n, read := binary.Uvarint(buf[body+1 : at])
			if read <= 0 {
				break
			}
			begin := body + 1 + read
			if begin == at {
				return n, true
			}
			if n > uint64(at-begin) {
				break
			}
			body = begin + int(n)
		}
	}
	return 0, false
}

// messageBody returns the begin of a message's body, behind a zero, the schema number and the message path.
func messageBody(buf []byte, start int) (body int, ok bool) {
	const schemaBytes, mostPath = 4, 2
	if buf[start] != 0 || start+1+schemaBytes >= len(buf) {
		return 0, false
	}
	at := start + 1 + schemaBytes
	path, n := binary.Varint(buf[at:])
	if n <= 0 || path < 0 || path > mostPath {
		return 0, false
	}
	for at += n; path > 0; path-- {
		if at, ok = pastVarint(buf, at); !ok {
			return 0, false
		}
	}
	return at, at < len(buf)
}
