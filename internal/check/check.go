// Package check collects what is wrong with a configuration, so that every
// package words it alike and reports all of it at once:
//
//	func (c Config) Validate() error {
//		var p check.Problems
//		p.Whole("passes", c.Passes, 1, 10_000)
//		p.Above("learning_rate", c.LearningRate, 0, 10)
//		return p.Err()
//	}
//
// A problem names the key, the value and the bound. Keys are those of the
// configuration file within the package's section; whoever embeds the
// configuration adds the section with Within. Fields without a key are named as
// they would be if they had one.
package check

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Problem is one wrong value.
type Problem struct {
	// Key is the dotted key of the value.
	Key string
	// Value is what is there.
	Value any
	// Want says what would be right.
	Want string
	// Origin says where the value came from; empty if that is not known.
	Origin string
}

// Error words the problem in one line.
func (p Problem) Error() string {
	value := p.Value
	switch v := value.(type) {
	case string:
		value = strconv.Quote(v)
	case time.Duration:
		value = strconv.Quote(Duration(v))
	}
	if p.Origin != "" {
		return fmt.Sprintf("%s is %v, want %s (from %s)", p.Key, value, p.Want, p.Origin)
	}
	return fmt.Sprintf("%s is %v, want %s", p.Key, value, p.Want)
}

// Problems is an error of one line per problem. The zero value is empty and
// ready for use.
type Problems []Problem

// Error lists the problems, one per line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems as an error, or nil if there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Of returns the problems of a validation's error, none of nil. An error of
// another kind is a mistake in the program.
func Of(err error) Problems {
	var found Problems
	if err != nil && !errors.As(err, &found) {
		panic(fmt.Sprintf("check: not the error of a validation: %v", err))
	}
	return found
}

// Has reports whether a key has a problem.
func (p Problems) Has(key string) bool {
	return slices.ContainsFunc(p, func(one Problem) bool { return one.Key == key })
}

// Within adds the problems that the validation of a section reported, but for
// keys with a problem already: whoever embeds a configuration may bound it
// closer, and then does so first.
func (p *Problems) Within(section string, err error) {
	before := *p
	for _, one := range Of(err) {
		one.Key = section + "." + one.Key
		if !before.Has(one.Key) {
			*p = append(*p, one)
		}
	}
}
