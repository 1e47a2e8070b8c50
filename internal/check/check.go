// Package check collects the problems of a configuration, so that every package words them alike and reports all of
// them at once:
//
//	func (c Config) Validate() error {
//		var p check.Problems
//		p.Whole("passes", c.Passes, 1, 10_000)
//		p.Above("learning_rate", c.LearningRate, 0, 10)
//		return p.Err()
//	}
//
// A problem names the key, the value and the bound. Keys are those of the configuration file within the package's
// section; a configuration that embeds another one adds the section with Within. Fields without a key are named as if
// they had one.
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
	// Value is the wrong value.
	Value any
	// Want describes the allowed values.
	Want string
	// Origin is the source of the value, or empty if unknown.
	Origin string
}

// Error formats the problem as one line.
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

// Problems is an error with one line per problem. The zero value is empty and ready to use.
type Problems []Problem

// Error lists the problems, one per line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems as an error, or nil if the list is empty.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Of returns the problems in a validation's error, nil for a nil error. It panics for any other
// error, which is a programming error.
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

// Within adds the problems that the validation of a section reported, except for keys that
// already have a problem: a configuration that embeds a section may check stricter bounds first.
func (p *Problems) Within(section string, err error) {
	before := *p
	for _, one := range Of(err) {
		one.Key = section + "." + one.Key
		if !before.Has(one.Key) {
			*p = append(*p, one)
		}
	}
}
