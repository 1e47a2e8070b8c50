package journal

import (
	"maps"
	"slices"
)

// Kind returns the kind of a decision.
func Kind(d Decision) string { return d.kind() }

// Kinds returns the kinds of all decisions.
func Kinds() []string { return slices.Collect(maps.Keys(kinds())) }

// Unregistered is a decision that is missing from kinds.
type Unregistered struct{ Lifted }

func (Unregistered) kind() string { return "unregistered" }
