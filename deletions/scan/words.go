package scan

import (
	_ "embed"
	"slices"
	"strings"

	"lethe"
)

// An id may be a word that lethe, Pebble or the broker write, such as "illicit". Its bytes are everywhere and say
// nothing, so it is searched in id fields and as a key only; its pseudonym, next to it in every store, is no word.

// wordBytes is the shortest word, quotedIDBytes the shortest id searched in quotes.
const wordBytes, quotedIDBytes = 3, 4

// words are in Pebble's and brokers' files, ownWords in texts that lethe may write (made by a test), one a line.
var (
	//go:embed words.txt
	words string
	//go:embed ownwords.txt
	ownWords string
)

func isListed(word string) bool {
	word = "\n" + strings.ToLower(word) + "\n"
	return strings.Contains(words, word) || strings.Contains(ownWords, word)
}

// isWord reports whether all parts of an id are words.
func isWord(id string) bool {
	if len(id) < wordBytes {
		return false
	}
	parts := strings.FieldsFunc(id, func(r rune) bool { return r > 127 || !joins(byte(r)) })
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool { return !isListed(part) })
}

// field is what a field's name says about a string in it.
type field int

const (
	anyField field = iota
	idField
	// plainField holds no id.
	plainField
)

func fieldOf(name string) field {
	switch name {
	case "id", "source", "target", "transaction", "nodes":
		return idField
	case "type", "label", "timestep", "features", "scope", "nonce", "requested_at":
		return plainField
	default:
		return anyField
	}
}

// mayHold reports whether a string that could be an id is one there.
func (f field) mayHold(id string) bool {
	if isWord(id) {
		return f == idField
	}
	return f != plainField
}

// NotSearched returns the kinds that a word is not searched as, ascending.
func NotSearched(id lethe.TransactionID) []Kind {
	switch {
	case !isWord(string(id)):
		return nil
	case len(id) >= BoundedIDBytes:
		return []Kind{KindID}
	case len(id) < quotedIDBytes:
		return []Kind{KindIDFramed}
	default:
		return []Kind{KindIDFramed, KindIDQuoted}
	}
}
