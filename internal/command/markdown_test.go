package command_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/internal/command"
)

// referenceCLI has ten commands with the same flag, and one with a flag of the same name that means something else.
type referenceCLI struct {
	Erase eraseGroup `cmd:"" help:"Erase."`
	Find  findCmd    `cmd:"" help:"Find <one> record with prog erase submit."`

	A, B, C, D, E, F, G, H, I, J jsonCmd `cmd:"" help:"Print."`
}

type jsonCmd struct {
	JSON bool `help:"Print one JSON document."`
}

func (jsonCmd) Run() error { return nil }

type findCmd struct {
	Place   string        `arg:"" help:"Where it is: topic/partition."`
	ID      string        `help:"Its id." xor:"what" required:""`
	Key     string        `help:"Its key." xor:"what" required:""`
	Role    string        `help:"Role: ${enum}." enum:"a, b" default:"a"`
	Limit   int           `help:"Most of them; see --set kafka.brokers=a." default:"50"`
	Timeout time.Duration `help:"How long to wait." default:"1m" placeholder:"T"`
	Out     string        `help:"File to write." required:"" placeholder:"FILE"`
	Sorted  bool          `help:"Sort them." default:"true" negatable:""`
	JSON    bool          `help:"No effect."`
}

func (findCmd) Run() error { return nil }

func markdown(t *testing.T) string {
	t.Helper()
	p := command.Program{Name: "prog", Description: "Does something.\n\nExample:\n  prog a", Commands: &referenceCLI{}}
	parser, err := p.Parser(&command.App{Stdout: io.Discard, Stderr: io.Discard})
	require.NoError(t, err)
	return command.Markdown(parser.Model)
}

// sectionOf is what a page has below a heading.
func sectionOf(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+heading+"\n\n")
	require.True(t, found, page)
	section, _, _ := strings.Cut(rest, "\n#")
	return section
}

func TestMarkdown_IndexHasEveryCommandButNoGroup(t *testing.T) {
	index := sectionOf(t, markdown(t), "## All commands")
	require.Contains(t, index, "| [`prog erase submit`](#prog-erase-submit) | Submit a request. |\n")
	require.NotContains(t, index, "`prog erase`")
	require.Equal(t, 12, strings.Count(index, "[`prog"))
}

func TestMarkdown_CommandHasTextThenExamplesThenFlags(t *testing.T) {
	page := markdown(t)
	require.Equal(t, "Erase.\n\nErase in steps.\n", sectionOf(t, page, "## prog erase"))
	require.Equal(t, "Submit a request.\n\nUsage: `prog erase submit [flags]`\n\nOne line of text .and another.\n\n"+
		"```sh\nprog erase submit --node 1\nprog erase submit --node '1\\2'\n```\n\n"+
		"| flag | meaning |\n|---|---|\n| `--node=ID` | Transaction to forget, 100 % of it. |\n",
		sectionOf(t, page, "### prog erase submit"))
}

func TestMarkdown_FlagsHaveMeaningAndDefault(t *testing.T) {
	require.Equal(t, "Find \\<one> record with `prog erase submit`.\n\n"+
		"Usage: `prog find <place> --out=FILE (--id=ID | --key=KEY) [flags]`\n\n"+
		"| argument or flag | meaning |\n|---|---|\n"+
		"| `<place>` | Where it is: topic/partition. |\n"+
		"| `--id=ID` | Its id. |\n"+
		"| `--key=KEY` | Its key. |\n"+
		"| `--role=ROLE` | Role: a, b. Default: `a`. |\n"+
		"| `--limit=N` | Most of them; see `--set kafka.brokers=a`. Default: `50`. |\n"+
		"| `--timeout=T` | How long to wait. Default: `1m`. |\n"+
		"| `--out=FILE` | File to write. Required. |\n"+
		"| `--[no-]sorted` | Sort them. Default: `true`. |\n"+
		"| `--json` | No effect. |\n",
		sectionOf(t, markdown(t), "## prog find"))
}

func TestMarkdown_FlagOfManyCommandsIsDescribedOnce(t *testing.T) {
	page := markdown(t)
	require.Equal(t, 1, strings.Count(page, "Print one JSON document."))
	shared := sectionOf(t, page, "## Flags that many commands share")
	require.Contains(t, shared, "| `--json` | Print one JSON document. |\n")
	require.Equal(t, "Print.\n\nUsage: `prog j [flags]`\n\n[Shared flags](#flags-that-many-commands-share): `--json`.\n",
		sectionOf(t, page, "## prog j"))
}

func TestManual_PrintsMarkdownIfAsked(t *testing.T) {
	var stdout strings.Builder
	p := command.Program{Name: "prog", Description: "Does something.", Commands: &manCLI{}}
	code := p.Execute(&command.App{Stdout: &stdout, Stderr: io.Discard}, []string{"man", "--markdown"})
	require.Equal(t, command.ExitOK, code)
	require.True(t, strings.HasPrefix(stdout.String(), "# Commands of prog\n"), stdout.String())
}
