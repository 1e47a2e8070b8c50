package command

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// sharedFrom is the number of commands from which a flag is described once for all of them.
const sharedFrom = 10

// sharedTitle is the heading of the shared flags, and sharedAnchor the link to it.
const sharedTitle, sharedAnchor = "Flags that many commands share", "#flags-that-many-commands-share"

// Markdown returns the reference of a program's commands as a page: an index, the flags that many commands share, and
// a section for every command.
func Markdown(program *kong.Application) string {
	m := markdown{all: sections(program.Node)}
	m.shared = shared(m.all)
	m.code = codeIn(m.all)
	m.head(program)
	m.line("\n## All commands\n\n| command | what it does |\n|---|---|")
	for _, s := range m.all {
		if s.node.Leaf() {
			path := s.node.FullPath()
			m.line("| [`%s`](#%s) | %s |", path, strings.ReplaceAll(path, " ", "-"), m.prose(s.node.Help))
		}
	}
	if len(m.shared) > 0 {
		m.line("\n## %s\n\nThe section of a command names those that it has.\n", sharedTitle)
		m.table(m.shared)
	}
	for _, s := range m.all {
		m.section(s)
	}
	return m.String()
}

// markdown is a page under construction.
type markdown struct {
	strings.Builder
	all    []section
	shared []option
	code   *regexp.Regexp
}

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *markdown) head(program *kong.Application) {
	m.line("# Commands of %s", program.Name)
	m.paragraphs(blocks(program.Help))
	m.line("\nGenerated from the code: `go test -run CommandsPage -rewrite` in the folder of the command.\n")
	m.line("- Every command explains itself with `--help`.")
	m.line("- With `--json` a command prints one JSON document on standard output and nothing else there. Progress, logs "+
		"and errors\n  go to standard error. An error is one line that begins with `%s:`.", program.Name)
	m.line("- Exit status %s", strings.ReplaceAll(strings.TrimSuffix(exitStatuses, "."), ". ", "; ")+".")
	m.line("- Flags override environment variables, which override the file of `--config`, which overrides the\n" +
		"  defaults ([configuration](configuration.md)).")
}

// section writes a command: its purpose, usage, text, examples and flags. A group has no examples, because its
// subcommands have them.
func (m *markdown) section(s section) {
	m.line("\n%s %s\n\n%s", strings.Repeat("#", s.node.Depth()+2), s.node.FullPath(), m.prose(s.node.Help))
	if s.node.Leaf() {
		m.line("\nUsage: `%s`", strings.Replace(s.node.FullPath(), s.node.Path(), s.usage(), 1))
	}
	m.paragraphs(s.detail)
	if s.node.Leaf() {
		m.examples(s.detail)
	}
	m.options(s.options)
}

// paragraphs writes the text of a help, without its examples.
func (m *markdown) paragraphs(detail []block) {
	for _, b := range detail {
		if !b.example && b.lines[0] != "Example:" {
			m.line("\n%s", m.prose(strings.Join(b.lines, " ")))
		}
	}
}

func (m *markdown) examples(detail []block) {
	var lines []string
	for _, b := range detail {
		if b.example {
			lines = append(lines, b.lines...)
		}
	}
	if len(lines) == 0 {
		return
	}
	m.line("\n```sh")
	for _, line := range lines {
		m.line("%s", strings.TrimPrefix(line, "  "))
	}
	m.line("```")
}

// options writes a table of a command's own options and lists the shared ones.
func (m *markdown) options(all []option) {
	var own []option
	var elsewhere []string
	for _, o := range all {
		if slices.Contains(m.shared, o) {
			elsewhere = append(elsewhere, "`"+o.bareName()+"`")
		} else {
			own = append(own, o)
		}
	}
	if len(own) > 0 {
		m.line("")
		m.table(own)
	}
	if len(elsewhere) > 0 {
		m.line("\n[Shared flags](%s): %s.", sharedAnchor, strings.Join(elsewhere, ", "))
	}
}

func (m *markdown) table(options []option) {
	title := "flag"
	if slices.ContainsFunc(options, func(o option) bool { return o.argument }) {
		title = "argument or flag"
	}
	m.line("| %s | meaning |\n|---|---|", title)
	for _, o := range options {
		help := m.prose(o.help)
		if o.required {
			help += " Required."
		}
		if o.fallback != "" {
			help += " Default: `" + o.fallback + "`."
		}
		m.line("| `%s` | %s |", strings.ReplaceAll(o.name, "|", `\|`), help)
	}
}

// prose returns a help text with its code in backticks.
func (m *markdown) prose(text string) string {
	return m.code.ReplaceAllStringFunc(text, func(match string) string {
		if special := match == "<" || match == "*" || match == "|"; special {
			return `\` + match
		}
		return "`" + strings.Trim(match, `"`) + "`"
	})
}

// codeIn matches the code in a help text, and characters that Markdown would interpret.
func codeIn(all []section) *regexp.Regexp {
	var alternatives []string
	for _, s := range all {
		alternatives = append(alternatives, regexp.QuoteMeta(s.node.FullPath())+`\b(?: --[a-z-]+)*`)
	}
	slices.Reverse(alternatives) // subcommands before their group, because the first alternative wins
	return regexp.MustCompile(strings.Join(append(alternatives,
		`"[^"]+"`,
		`--[a-z][a-z-]*(?: [\w.]+=\w+)?\b`,
		`https?://[^ ,;)]*\w`,
		`\b[\d.]+:\d+\b`,                   // an address
		`/[a-z]+z\b`,                       // a probe, as /readyz
		`\bLETHE_[A-Z_]+\b`,                // a variable
		`[\w-]+(?:/[\w-]+)*[._][a-z]\S*\w`, // a key, a topic or a file
		`[<*|]`,
	), "|"))
}

// shared returns the flags that at least sharedFrom commands have with the same text. If a flag has two texts, only
// the more frequent one is shared, so that a flag listed in a command is not ambiguous.
func shared(all []section) []option {
	counts := make(map[option]int)
	for _, s := range all {
		for _, o := range s.options {
			counts[o]++
		}
	}
	byCount := slices.SortedFunc(maps.Keys(counts), func(a, b option) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.name, b.name), cmp.Compare(a.help, b.help))
	})
	var list []option
	seen := make(map[string]bool)
	for _, o := range byCount {
		if counts[o] >= sharedFrom && !seen[o.bareName()] {
			seen[o.bareName()] = true
			list = append(list, o)
		}
	}
	return list
}
