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

// Code is the kind of a reason.
type Code string

// The codes. N means neighbours in either direction, I the payers and O the payees of the
// transaction.
const (
	// Feature is a feature of the transaction itself, and the next three are its means over
	// neighbours.
	Feature           Code = "F"
	FeatureNeighbours Code = "FN"
	FeaturePayers     Code = "FI"
	FeaturePayees     Code = "FO"
	// Neighbours, Payers and Payees are their numbers.
	Neighbours Code = "N"
	Payers     Code = "NI"
	Payees     Code = "NO"
	// Shape is the effect of the payments around the transaction with all features unknown.
	Shape Code = "S"
	// Payment is the total effect of the features of the other end, and of those beyond it.
	Payment Code = "P"
)

// Codes lists all codes.
func Codes() []Code {
	return []Code{
		Feature, FeatureNeighbours, FeaturePayers, FeaturePayees, Neighbours, Payers, Payees, Shape, Payment,
	}
}

func (c Code) known() bool { return slices.Contains(Codes(), c) }

// ofFeature reports whether the code belongs to one feature.
func (c Code) ofFeature() bool { return strings.HasPrefix(string(c), string(Feature)) }

// columnOf returns the meaning of a column of a row with joined one-hop features.
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

// ReadNames reads the names of a transaction's own features, one per line, in the order of the
// features in records. An empty line means no name. The error identifies the line with an invalid
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
