package scan

import (
	_ "embed"
	"slices"
	"strings"

	"lethe"
)

// An id may be a word that lethe, Pebble or the broker write themselves, such as
// "illicit" or "close". Its bytes stand in records of anybody and in every folder, so
// they say nothing about it. Such an id is looked for in fields that hold ids, and as a
// key; its pseudonym, which no word is, stands next to it wherever lethe keeps it.

// wordBytes is the length from which an id can be a word, and quotedIDBytes that from which it is searched in quotes.
// Shorter ones are found by chance, and are searched in delimited forms whatever they are.
const wordBytes, quotedIDBytes = 3, 4

// words stand in Pebble's files and in those of brokers, ownWords in texts that lethe may write: a test makes these from
// the sources. Both files have a word a line.
var (
	//go:embed words.txt
	words string
	//go:embed ownwords.txt
	ownWords string
)

// isListed reports whether a list has a word.
func isListed(word string) bool {
	word = "\n" + strings.ToLower(word) + "\n"
	return strings.Contains(words, word) || strings.Contains(ownWords, word)
}

// isWord reports whether an id, or each of its parts, is a word.
func isWord(id string) bool {
	if len(id) < wordBytes {
		return false
	}
	parts := strings.FieldsFunc(id, func(r rune) bool { return r > 127 || !joins(byte(r)) })
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool { return !isListed(part) })
}

// field is what the name of a field says about a string in it.
type field int

const (
	anyField field = iota
	idField
	// plainField is a field of the record formats that holds no id.
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

// mayHold reports whether a string there that reads as an id is one.
func (f field) mayHold(id string) bool {
	if isWord(id) {
		return f == idField
	}
	return f != plainField
}

// NotSearched returns the forms in which an id would be searched for if it were not a
// word, ascending.
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
