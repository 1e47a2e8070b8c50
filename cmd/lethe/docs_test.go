package main

import (
	"flag"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	_ "github.com/cockroachdb/datadriven" // for its flag -rewrite
	"github.com/stretchr/testify/require"

	"lethe/internal/command"
)

var (
	// typed finds a command in a line of code: at its start or behind another command, as it is installed, built or run
	// from source. Variables may precede it.
	typed = regexp.MustCompile(`(?:^|[|;&(] *)(?:\$ )?(?:[A-Z_]+=[^ ]+ )*(?:bin/|go run \./cmd/)?(lethe [a-z].*)`)
	// quoted finds a command within a text.
	quoted = regexp.MustCompile("`(?:bin/|go run \\./cmd/)?(lethe [a-z][^`\n]*)")
)

// documentedCommands returns the command lines of a page: in fenced blocks of shell code, in lines that are indented as
// code, and in code within a text.
func documentedCommands(page string) (all []string) {
	fence, fenced := "", false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		if language, is := strings.CutPrefix(strings.TrimSpace(line), "```"); is {
			fence, fenced = language, !fenced
			continue
		}
		code, indented := strings.CutPrefix(line, "    ")
		if fenced {
			code = line
		}
		if shell := fence == "sh" || fence == "bash" || fence == "console"; fenced && shell || !fenced && indented {
			code = strings.TrimSpace(code)
			for found := typed.FindStringSubmatch(code); found != nil; found = typed.FindStringSubmatch(code) {
				all = append(all, found[1])
				code = strings.TrimPrefix(found[1], "lethe ") // what follows it may hold another
			}
		}
		if !fenced {
			for _, found := range quoted.FindAllStringSubmatch(line, -1) {
				all = append(all, found[1])
			}
		}
	}
	return all
}

func TestDocumentedCommands_EveryFormIsFound(t *testing.T) {
	page := "    bin/lethe run --a\n" +
		"See `lethe status` and `go run ./cmd/lethe demo`, not lethe erase.\n" +
		"```sh\ncd lethe && go run ./cmd/lethe demo --b\nLETHE_SEED=1 lethe log show | jq .\n" +
		"lethe generate --out s && lethe replay --dataset s\nsource <(lethe completion -c bash)\n```\n" +
		"```json\nlethe nothing\n```\n" +
		"```console\n$ lethe verify\n```\n"
	require.Equal(t, []string{
		"lethe run --a", "lethe status", "lethe demo", "lethe demo --b", "lethe log show | jq .",
		"lethe generate --out s && lethe replay --dataset s", "lethe replay --dataset s",
		"lethe completion -c bash)", "lethe verify",
	}, documentedCommands(page))
}

// Every command that a page shows exists and has the flags that the page shows.
func TestDocumentedCommandsExist(t *testing.T) {
	root, checked := model(t), 0
	require.NoError(t, fs.WalkDir(os.DirFS("../.."), ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(at) != ".md" || strings.HasPrefix(at, "docs/decisions/") || at == "CHANGELOG.md" {
			return err
		}
		text, err := os.ReadFile(filepath.Join("../..", at))
		for _, line := range documentedCommands(string(text)) {
			requireCommand(t, root.Node, strings.Fields(line)[1:], at+": "+line)
			if at != commandsPage {
				checked++
			}
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

const commandsPage = "docs/commands.md"

// model returns the commands of the program.
func model(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := program().Parser(&command.App{Stdout: io.Discard, Stderr: io.Discard})
	require.NoError(t, err)
	return parser.Model
}

func TestCommandsPageIsGenerated(t *testing.T) {
	const file = "../../" + commandsPage
	want := command.Markdown(model(t))
	if f := flag.Lookup("rewrite"); f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "regenerate it with go test ./cmd/lethe -run CommandsPage -rewrite")
}
