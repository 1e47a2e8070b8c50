package command_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/command"
)

// TestStagesAreNeverLeftOut: amounts are told every few seconds, stages always.
func TestStagesAreNeverLeftOut(t *testing.T) {
	var out bytes.Buffer
	p := command.NewProgress(&out)
	p.Show("%d of 3", 1)
	p.Show("%d of 3", 2)
	p.Reached("erasure: %s", "verified")
	p.Show("%d of 3", 3)
	p.Done("done")
	var said []string
	for line := range strings.Lines(out.String()) {
		_, text, _ := strings.Cut(line, "] ")
		said = append(said, strings.TrimSpace(text))
	}
	require.Equal(t, []string{"1 of 3", "erasure: verified", "done"}, said)
}
