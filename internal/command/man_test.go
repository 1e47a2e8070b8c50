package command_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/command"
)

type manCLI struct {
	Erase eraseGroup  `cmd:"" help:"Erase."`
	Man   command.Man `cmd:"" help:"Print the manual page."`
}

type eraseGroup struct {
	Submit eraseSubmit `cmd:"" help:"Submit a request."`
}

// Help is a workflow of subcommands.
func (eraseGroup) Help() string { return "Erase in steps.\n\nExample:\n  prog erase submit --node 2" }

type eraseSubmit struct {
	Node string `help:"Transaction to forget, 100 % of it." placeholder:"ID"`
}

func (eraseSubmit) Help() string {
	return "Example:\n  prog erase submit --node 1\n  prog erase submit --node '1\\2'\n\nOne line of text\n.and another."
}

func (eraseSubmit) Run() error { return nil }

// The manual page has a section for every command: what it does, its examples line by line, and its flags.
func TestManualPage(t *testing.T) {
	var stdout, stderr bytes.Buffer
	p := command.Program{Name: "prog", Description: "Does something.\n\nExample:\n  prog man", Commands: &manCLI{}}
	code := p.Execute(&command.App{Context: t.Context(), Stdout: &stdout, Stderr: &stderr}, []string{"man"})
	require.Equal(t, command.ExitOK, code, stderr.String())
	page := stdout.String()
	require.True(t, strings.HasPrefix(page, ".TH PROG 1\n.SH NAME\nprog \\- Does something.\n.SH SYNOPSIS\n"), page)
	_, section, found := strings.Cut(page, ".SS erase submit [flags]\n")
	require.True(t, found, page)
	section, _, _ = strings.Cut(section, ".SS ")
	require.Equal(t, `Submit a request.
.PP
Example:
.PP
.nf
  prog erase submit \-\-node 1
  prog erase submit \-\-node '1\e2'
.fi
.PP
One line of text
\&.and another.
.TP
\fB\-\-node=ID\fP
Transaction to forget, 100 % of it.
`, section)
	if groff, err := exec.LookPath("groff"); err == nil {
		check := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", "-Tutf8")
		check.Stdin = &stdout
		said, err := check.CombinedOutput()
		require.NoError(t, err, string(said))
		require.Empty(t, string(said))
	}
}
