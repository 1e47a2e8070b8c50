package demo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/service"
	"lethe/service/waiting"
)

// TestADemoWhoseRecordsAreRejectedEnds says why and what to do.
func TestADemoWhoseRecordsAreRejectedEnds(t *testing.T) {
	require.NoError(t, stuck(&service.Status{Waiting: []waiting.Wait{{Cause: waiting.BrokersAway}}}))
	require.EqualError(t, stuck(&service.Status{Waiting: []waiting.Wait{
		{Cause: waiting.RecordsRejected, Message: "40 of 40.", Do: "See."},
	}}), "the demo cannot continue: 40 of 40. See.")
}
