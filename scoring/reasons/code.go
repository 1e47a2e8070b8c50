package reasons

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"lethe/partition/onehop"
)

// Code says what kind of part a reason is.
type Code string

// The codes. N is of neighbours, either way, I of those who pay the transaction and O of
// those whom it pays.
const (
	// Feature is a feature of the transaction's own, and the next three are its means over
	// others.
	Feature           Code = "F"
	FeatureNeighbours Code = "FN"
	FeaturePayers     Code = "FI"
	FeaturePayees     Code = "FO"
	// Neighbours, Payers and Payees are how many there are.
	Neighbours Code = "N"
	Payers     Code = "NI"
	Payees     Code = "NO"
	// Shape is what the payments around the transaction make while no feature is known.
	Shape Code = "S"
	// Payment is all that the features of the other end add, and of those behind it.
	Payment Code = "P"
)

// Codes lists all of them.
func Codes() []Code {
	return []Code{
		Feature, FeatureNeighbours, FeaturePayers, FeaturePayees, Neighbours, Payers, Payees, Shape, Payment,
	}
}

func (c Code) known() bool { return slices.Contains(Codes(), c) }

// ofFeature reports whether the code is of one feature.
func (c Code) ofFeature() bool { return strings.HasPrefix(string(c), string(Feature)) }

// columnOf says what column of a row stands for that has what is joined to own features.
func columnOf(column, own int, mode onehop.Mode) Reason {
	if column < own {
		return Reason{Code: Feature, Feature: &column}
	}
	means, sizes := []Code{FeatureNeighbours}, []Code{Neighbours}
	if mode == onehop.Directed {
		means, sizes = []Code{FeaturePayers, FeaturePayees}, []Code{Payers, Payees}
	}
	column -= own
	if group := column / max(1, own); own > 0 && group < len(means) {
		feature := column % own
		return Reason{Code: means[group], Feature: &feature}
	}
	return Reason{Code: sizes[column-own*len(means)]}
}

const (
	// maxNames and maxNameBytes bound a file of names.
	maxNames, maxNameBytes = 1 << 16, 100
)

// ReadNames reads the names of a transaction's own features, one per line, in the order in
// which records have them. An empty line names nothing. The error says which line is no
// name.
func ReadNames(r io.Reader) ([]string, error) {
	var names []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name := lines.Text()
		switch {
		case len(names) == maxNames:
			return nil, fmt.Errorf("line %d: there are more names than features, at most %d", len(names)+1, maxNames)
		case len(name) > maxNameBytes:
			return nil, fmt.Errorf("line %d: a name of %d bytes, want at most %d", len(names)+1, len(name), maxNameBytes)
		case !utf8.ValidString(name):
			return nil, fmt.Errorf("line %d: a name that is no UTF-8", len(names)+1)
		}
		names = append(names, name)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", len(names)+1, err)
	}
	return names, nil
}
