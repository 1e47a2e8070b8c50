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

// extension is that of files with receipts.
const extension = ".json"

// Said returns what a signed receipt says as plain text: its payload and the headers of its
// signatures, each behind a line break. A search of the document's bytes would not find what
// stands there in base64.
//
// It does not ask whether the document is a receipt, or JSON at all, for a search may meet one that
// is broken or that somebody has put there: wherever a member payload or protected stands, its
// value is decoded as far as it is base64. So nothing that Decode reads is missed, and a search of
// many receipts does not take each of them apart and put it together again.
func Said(data []byte) (out []byte) {
	// What stands between two quotation marks is a string, or what is between two strings: in
	// a broken document that cannot be told.
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

// says reports whether the member of a name holds something in base64 that is searched.
func says(name []byte) bool {
	const payload, protected = "payload", "protected"
	if bytes.IndexByte(name, '\\') >= 0 {
		// The longest spelling has six bytes for each.
		if len(name) > 6*len(protected) {
			return false
		}
		name = plain(name)
	}
	return string(name) == payload || string(name) == protected
}

// toQuote cuts a text at its first quotation mark that no backslash stands before.
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

// plain takes the escapes out of what stands between two quotation marks, if they are JSON's.
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

// appendDecoded appends what base64 says, in either alphabet and over line breaks, up to the first
// byte that is none.
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

// appendDigits appends what base64url says. A last character that says no whole byte is passed over.
func appendDigits(out, digits []byte) []byte {
	if len(digits)%4 == 1 {
		digits = digits[:len(digits)-1]
	}
	out, _ = base64.RawURLEncoding.AppendDecode(out, digits) // digits alone, and as many as there can be
	return out
}

// Readable returns a file system for searches: every receipt in it has what it says behind
// its bytes.
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

// readFile is a file that is read from memory.
type readFile struct {
	fs.File
	content io.Reader
}

// Read implements fs.File.
func (f readFile) Read(p []byte) (int, error) { return f.content.Read(p) }
