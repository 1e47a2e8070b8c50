package scan

import (
	"bytes"
	"encoding/json"
	"slices"
)

// In valid JSON, a string in a field of names that may be a name is compared as a whole: parts of it are other
// names.

// eachString calls fn for every string of valid JSON that is no field's name. isName says that it is a name.
func eachString(text []byte, fn func(s span, isName bool)) {
	name := ""
	for at := bytes.IndexByte(text, '"'); at >= 0 && at < len(text); {
		end := closingQuote(text, at+1)
		if raw := text[at+1 : max(at+1, end)]; endsName(text, end) {
			name = fieldName(raw)
		} else {
			fn(span{at + 1, end}, fitsName(name, raw))
		}
		next := bytes.IndexByte(text[min(end+1, len(text)):], '"')
		if next < 0 {
			return
		}
		at = end + 1 + next
	}
}

// fieldName returns the name of a field, or "" if it is too long for a field of names.
func fieldName(raw []byte) string {
	const longest = 6 * len("transaction")
	if len(raw) > longest {
		return ""
	}
	return string(unescape(raw))
}

// remainder is valid JSON without strings compared separately: names, and nested JSON.
func remainder(text []byte, depth int) []byte {
	out, from := make([]byte, 0, len(text)), 0
	eachString(text, func(s span, isName bool) {
		if isName || depth < maxNesting && isNestedJSON(text[s.from:s.to]) {
			out, from = append(out, text[from:s.from]...), s.to
		}
	})
	return append(out, text[from:]...)
}

func isNestedJSON(raw []byte) bool {
	begins := bytes.TrimLeft(raw, " ")
	if len(begins) == 0 || begins[0] != '{' && begins[0] != '[' || bytes.IndexByte(raw, '\\') < 0 {
		return false
	}
	return json.Valid(unescape(raw))
}

// scanPart is ScanBytes without hits inside the names of valid JSON.
func scanPart(sc *Scanner, part []byte) []Hit {
	hits := sc.ScanBytes(part)
	if !slices.ContainsFunc(hits, func(h Hit) bool { return ofName(h.Kind) }) || !json.Valid(part) {
		return hits
	}
	kept, next := hits[:0], 0
	eachString(part, func(s span, isName bool) {
		if !isName {
			return
		}
		for ; next < len(hits) && int(hits[next].Offset) < s.to; next++ {
			from := int(hits[next].Offset)
			found := span{from, from + sc.fingerprints[hits[next].Fingerprint].Length}
			if !ofName(hits[next].Kind) || from < s.from || found.to > s.to || found == s {
				kept = append(kept, hits[next])
			}
		}
	})
	return append(kept, hits[next:]...)
}
