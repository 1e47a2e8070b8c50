package command

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// exitStatuses is the contract of every command.
const exitStatuses = "0: success. 1: something failed. 2: wrong use."

// section is one command in a reference. The manual page and the Markdown page are two renderings of the same
// sections.
type section struct {
	node    *kong.Node
	options []option
	// detail is the long help.
	detail []block
}

// sections returns every visible command below a node, a group before its subcommands.
func sections(node *kong.Node) (all []section) {
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(all, section{node: child, options: optionsOf(child), detail: blocks(child.Detail)})
			all = append(all, sections(child)...)
		}
	}
	return all
}

// usage returns the command's usage line. Of the flags in an exclusive group, one is required.
func (s section) usage() string {
	words := []string{s.node.Path()}
	var either []string
	optional := false
	for _, o := range s.options {
		switch {
		case o.argument, o.required:
			words = append(words, o.name)
		case o.either:
			either = append(either, o.name)
		default:
			optional = true
		}
	}
	if len(either) > 0 {
		words = append(words, "("+strings.Join(either, " | ")+")")
	}
	if !s.node.Leaf() {
		words = append(words, "<command>")
	}
	if optional {
		words = append(words, "[flags]")
	}
	return strings.Join(words, " ")
}

// option is an argument or a flag: its syntax, meaning, and default unless that is zero.
type option struct {
	name, help, fallback       string
	argument, required, either bool
}

// bareName is the name without a placeholder.
func (o option) bareName() string {
	name, _, _ := strings.Cut(o.name, "=")
	return name
}

// optionsOf returns the arguments and then the flags of a command, without those of its parent commands.
func optionsOf(node *kong.Node) (all []option) {
	for _, argument := range node.Positional {
		all = append(all, option{name: argument.Summary(), help: argument.Help, argument: true})
	}
	for _, flag := range node.Flags {
		if !flag.Hidden {
			all = append(all, flagOption(flag))
		}
	}
	return all
}

func flagOption(flag *kong.Flag) option {
	o := option{name: "--" + flag.Name, help: strings.ReplaceAll(flag.Help, "\n", " ")}
	o.either = flag.Required && len(flag.Xor) > 0
	o.required = flag.Required && !o.either
	if flag.HasDefault && !slices.Contains([]string{"", "0", "false"}, flag.Default) {
		o.fallback = flag.Default
	}
	switch {
	case flag.Tag.Negatable != "":
		o.name = "--[no-]" + flag.Name
	case !flag.IsBool():
		o.name += "=" + placeholder(flag)
	}
	if flag.Short != 0 {
		o.name = fmt.Sprintf("-%c, %s", flag.Short, o.name)
	}
	return o
}

// placeholder returns the placeholder of a flag's value. Unlike kong's, it does not show the default there.
func placeholder(flag *kong.Flag) string {
	switch kind := flag.Target.Kind(); {
	case flag.PlaceHolder != "":
		return flag.FormatPlaceHolder()
	case flag.Target.Type() == reflect.TypeFor[time.Duration]():
		return "DURATION"
	case kind >= reflect.Int && kind <= reflect.Float64:
		return "N"
	case flag.IsSlice():
		return strings.ToUpper(flag.Name) + ",..."
	default:
		return strings.ToUpper(flag.Name)
	}
}

// block is a paragraph of a help text, or the indented lines of an example.
type block struct {
	example bool
	lines   []string
}

// blocks splits a help text. Empty lines separate paragraphs.
func blocks(text string) (all []block) {
	within := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			within = false
			continue
		}
		example := strings.HasPrefix(line, "  ")
		if !within || all[len(all)-1].example != example {
			all = append(all, block{example: example})
		}
		last := &all[len(all)-1]
		last.lines, within = append(last.lines, line), true
	}
	return all
}
