package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"lethe/internal/command"
)

// documented are the commands that pages show: lines of code, and code within a text.
var documented = regexp.MustCompile("(?m)(?:^ {4,}(?:[A-Z_]+=[^ ]+ )*(?:bin/)?|`)(lethe [a-z][^`\n]*)")

// Every command that a page shows is there, with the flags that it shows.
func TestDocumentedCommandsExist(t *testing.T) {
	parser, err := kong.New(&cli{}, kong.Name("lethe"), vars(), command.SharedHelp())
	require.NoError(t, err)
	checked := 0
	require.NoError(t, fs.WalkDir(os.DirFS("../.."), ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(at) != ".md" || strings.HasPrefix(at, "docs/decisions/") || at == "CHANGELOG.md" {
			return err
		}
		text, err := os.ReadFile(filepath.Join("../..", at))
		for _, m := range documented.FindAllStringSubmatch(string(text), -1) {
			requireCommand(t, parser.Model.Node, strings.Fields(m[1])[1:], at+": "+m[1])
			checked++
		}
		return err
	}))
	require.Greater(t, checked, 100)
}

// requireCommand follows the words of a command line through the commands, and looks for its flags.
func requireCommand(t *testing.T, node *kong.Node, words []string, where string) {
	t.Helper()
	for _, word := range words {
		word = strings.TrimRight(word, ".,;:)")
		switch {
		case word == "#" || word == "|" || word == "&&" || word == ">" || word == "\\":
			return
		case strings.HasPrefix(word, "--"):
			name, _, _ := strings.Cut(strings.TrimLeft(word, "-["), "=")
			name = strings.TrimRight(name, "]")
			found := name == "help" || name == "version" || name == "no-"
			for at := node; at != nil; at = at.Parent {
				for _, flag := range at.Flags {
					found = found || flag.Name == name || "no-"+flag.Name == name
				}
			}
			require.True(t, found, "%s has no flag --%s", where, name)
		case len(node.Children) > 0:
			next := child(node, word)
			if next == nil && node.Parent == nil && word == "…" {
				return
			}
			if next == nil && strings.ContainsAny(word, "|…[") {
				return // several commands in one line
			}
			require.NotNil(t, next, "%s: there is no command %q", where, word)
			node = next
		}
	}
}

func child(node *kong.Node, name string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Every command has its place in the README's table.
func TestEveryCommandIsInTheTable(t *testing.T) {
	parser, err := kong.New(&cli{}, kong.Name("lethe"), vars(), command.SharedHelp())
	require.NoError(t, err)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	rows := make(map[string]map[string]bool)
	for line := range strings.Lines(string(readme)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		words := strings.Fields(strings.NewReplacer("`", "", ",", " ").Replace(cells[1]))
		first := words[0]
		for _, word := range words {
			if rows[word] == nil {
				rows[word] = make(map[string]bool)
			}
			rows[first][word] = true
		}
	}
	for _, c := range parser.Model.Children {
		require.Contains(t, rows, c.Name)
		for _, sub := range c.Children {
			require.True(t, rows[c.Name][sub.Name], "lethe %s %s is not in the table", c.Name, sub.Name)
		}
	}
}
