package main

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"lethe"
	"lethe/ingest"
	"lethe/internal/command"
)

// names are the names in a flag, which may be repeated. Like a row of CSV, as in the console's form, each text may
// have several: commas and semicolons separate them. A name in double quotes may hold these, and "" in it is one
// double quote.
type names []string

// check refuses names that are no ids or keys of subjects. The error does not repeat them.
func (n names) check(flag string, valid func(string) bool, form string) error {
	for i, name := range n {
		if !valid(ingest.DefaultLimits().Name(name)) {
			return command.Usagef("%s number %d is not valid: want %s", flag, i+1, form)
		}
	}
	return nil
}

// checkUntil refuses a last timestep that is none, or that names no subject.
func (n names) checkUntil(until int64) error {
	switch {
	case until < -1 || until > lethe.MaxTimestep:
		return command.Usagef("--until is %d: want a timestep of 0 to 2^53, or -1 for the latest", until)
	case until >= 0 && len(n) == 0:
		return command.Usagef("--until is %d, without a subject that it is for: give --subject, or leave it out", until)
	}
	return nil
}

// Decode implements kong.MapperValue.
func (n *names) Decode(ctx *kong.DecodeContext) error {
	var rest string
	if err := ctx.Scan.PopValueInto("name", &rest); err != nil {
		return err
	}
	for {
		found := firstName.FindStringSubmatch(rest)
		if found == nil { // the text is not repeated: it may be a person's id
			return errors.New(`a double quote is not closed, or something follows it: put an id with a comma in double ` +
				`quotes, as "a,b", and double those that it has itself, as """a"""`)
		}
		if name := cmp.Or(strings.ReplaceAll(found[1], `""`, `"`), strings.TrimSpace(found[2])); name != "" {
			*n = append(*n, name)
		}
		if rest = rest[len(found[0]):]; rest == "" {
			return nil
		}
	}
}

// firstName is the first name of a text, in double quotes or not, and what separates it from the next.
var firstName = regexp.MustCompile(`^\s*(?:"((?:[^"]|"")*)"|([^",;\s][^,;]*)?)\s*(?:[,;]|$)`)
