package scan

import (
	"bytes"
	"encoding/binary"
)

// An id of digits occurs by chance inside longer ids and in the decimals of
// features: a store of 200,000 transactions written as JSON holds most strings
// of eight digits somewhere. So an id counts only where it stands alone: no
// ASCII letter or digit right before or after it, and not as the fraction or
// the whole part of a decimal number. Two framings make a letter or digit
// next to it legal, and are recognised:
//
//   - its own length right before it, as Kafka records (a zigzag varint),
//     protocol buffers and canonical bytes (fixed width) frame a string; what
//     follows then belongs to the next field. A length that is also a character
//     of text, such as 17 in zigzag form, a quotation mark, is taken for a frame
//     only if what follows fits: the length byte of a JSON value and its brace;
//   - the end of a JSON escape before it, such as the '>' of a payment's key,
//     which encoding/json writes as \u003e.

// contextBytes is the context that the rules read on either side of a window, besideBytes that of adjacent bytes.
const (
	contextBytes = 2 << 10
	besideBytes  = 8
)

// standsAlone applies the rules to buf[from:to]. The buffer ends with the data, or contextBytes beyond the window.
func standsAlone(buf []byte, from, to int) bool {
	left, right := buf[max(0, from-besideBytes):from], buf[to:min(len(buf), to+besideBytes)]
	frame := frameBefore(left, to-from)
	isFramed := frame != nil
	if isFramed && !isText(frame) {
		return true
	}
	if len(left) > 0 && joins(left[len(left)-1]) && !isFramed && !endsInEscape(left) {
		return false
	}
	if len(right) > 0 && joins(right[0]) && (!isFramed || len(right) < 2 || right[1] != '{') {
		return false
	}
	return !inDecimal(left, buf[from:to], right)
}

// inDecimal reports whether the window is a part of a decimal number.
func inDecimal(left, window, right []byte) bool {
	if n := len(left); n > 1 && left[n-1] == '.' && isDigit(left[n-2]) && isDigit(window[0]) {
		return true
	}
	return len(right) > 1 && right[0] == '.' && isDigit(right[1]) && isDigit(window[len(window)-1])
}

// frameBefore returns the length at the end of left, or nil.
func frameBefore(left []byte, lengthBytes int) []byte {
	n := uint64(lengthBytes)
	for _, encoded := range [...][]byte{
		binary.LittleEndian.AppendUint32(nil, uint32(n)),
		binary.BigEndian.AppendUint32(nil, uint32(n)),
		binary.AppendVarint(nil, int64(n)),
		binary.AppendUvarint(nil, n),
	} {
		if bytes.HasSuffix(left, encoded) {
			return encoded
		}
	}
	return nil
}

// isText reports whether all bytes occur in text files.
func isText(frame []byte) bool {
	for _, c := range frame {
		if (c < ' ' || c > '~') && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}

// endsInEscape reports whether left ends in \uXXXX or a two-character escape.
func endsInEscape(left []byte) bool {
	n := len(left)
	if n >= 6 && left[n-6] == '\\' && left[n-5] == 'u' {
		return true
	}
	return n >= 2 && left[n-2] == '\\' && bytes.IndexByte([]byte("bfnrt"), left[n-1]) >= 0
}

func joins(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
