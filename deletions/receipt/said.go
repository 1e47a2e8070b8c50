package receipt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
)

const extension = ".json"

// Said returns the decoded payload and signature headers of a receipt, a line each, for searches: in base64 they
// would not be found.
//
// It assumes no valid JSON, as a search may meet anything: the value of every member payload or protected is decoded
// as far as it is base64.
func Said(data []byte) (out []byte) {
	// Between two quotation marks is a string, or the text between strings: in a broken document that is unknown.
	var before, name []byte
	for {
		piece, rest, more := toQuote(data)
		if says(name) && string(bytes.TrimSpace(before)) == ":" {
			out = appendDecoded(append(out, '\n'), plain(piece))
		}
		if !more {
			return out
		}
		name, before, data = before, piece, rest
	}
}

// says reports whether a member's value is searched.
func says(name []byte) bool {
	const payload, protected = "payload", "protected"
	if bytes.IndexByte(name, '\\') >= 0 {
		// The longest spelling has six bytes per character.
		if len(name) > 6*len(protected) {
			return false
		}
		name = plain(name)
	}
	return string(name) == payload || string(name) == protected
}

// toQuote cuts a text at its first unescaped quotation mark.
func toQuote(data []byte) (piece, rest []byte, found bool) {
	for at := 0; ; at++ {
		next := bytes.IndexByte(data[at:], '"')
		if next < 0 {
			return data, nil, false
		}
		at += next
		escapes := 0
		for at-escapes > 0 && data[at-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return data[:at], data[at+1:], true
		}
	}
}

// plain unescapes a JSON string, if it is one.
func plain(piece []byte) []byte {
	if bytes.IndexByte(piece, '\\') < 0 {
		return piece
	}
	var text string
	if json.Unmarshal(slices.Concat([]byte(`"`), piece, []byte(`"`)), &text) != nil {
		return piece
	}
	return []byte(text)
}

// appendDecoded appends decoded base64 of either alphabet, with line breaks, up to the first other byte.
func appendDecoded(out, text []byte) []byte {
	if all, err := base64.RawURLEncoding.AppendDecode(out, text); err == nil {
		return all
	}
	digits := make([]byte, 0, len(text))
	for _, c := range text {
		switch {
		case c == '+':
			c = '-'
		case c == '/':
			c = '_'
		case c == '\r' || c == '\n':
			continue
		case c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z'):
			return appendDigits(out, digits)
		}
		digits = append(digits, c)
	}
	return appendDigits(out, digits)
}

// appendDigits appends decoded base64url without an incomplete last byte.
func appendDigits(out, digits []byte) []byte {
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	out, _ = base64.RawURLEncoding.AppendDecode(out, digits) // digits alone, and as many as there can be
	return out
}

// Readable is a file system whose receipts have their decoded content behind their bytes.
func Readable(files fs.FS) fs.FS { return readable{files} }

type readable struct{ fs.FS }

// Open implements fs.FS.
func (r readable) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil || path.Ext(name) != extension {
		return f, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return readFile{f, bytes.NewReader(slices.Concat(data, []byte("\n"), Said(data)))}, nil
}

// readFile is a file with its content in memory.
type readFile struct {
	fs.File
	content io.Reader
}

// Read implements fs.File.
func (f readFile) Read(p []byte) (int, error) { return f.content.Read(p) }
