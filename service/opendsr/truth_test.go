package opendsr

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
)

// docs/truth.md says which status of OpenDSR stands for which state.
func TestTruth_OpenDSR(t *testing.T) {
	text, err := os.ReadFile("../../docs/truth.md")
	require.NoError(t, err)
	seen := make(map[deletions.State]bool)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 9 || !strings.Contains(cells[2], "`") || strings.Contains(cells[2], "`state`") {
			continue
		}
		state := deletions.State(strings.Trim(cells[2], " `"))
		seen[state] = true
		require.Equal(t, strings.TrimSpace(cells[6]), statusOf(state), "state %s", state)
	}
	require.Len(t, seen, len(deletions.States()))
}

// V26, V38: completed says what was found, and a status names a controller when nobody is called back any more.
func TestTold_NothingHeld_SaysSo(t *testing.T) {
	s := &Service{o: Options{Domain: "dsr.example"}}
	said := s.answerOf("id", kept{}, standing{
		statusCompleted, details{Result: deletions.ResultNothingHeld, Summary: "nothing held"},
	})
	require.Equal(t, map[string]details{
		"dsr.example": {Result: deletions.ResultNothingHeld, Summary: "nothing held"},
	}, said.Extensions)
	require.NotEmpty(t, said.ControllerID)
}
