package bus_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
)

// Brokers take any type for a principal's, and never meet one that is written otherwise than theirs: the ACLs would be
// there and give nobody a right.
func TestPrincipalsAreThoseThatBrokersKnow(t *testing.T) {
	who := bus.Principals{Producer: "User:p", Compliance: "User:CN=c,O=x y", Lethe: "User:lethe", Reader: "Group:readers"}
	require.NoError(t, who.Check())
	for _, wrong := range []string{
		"", "lethe", "user:lethe", "USER:lethe", "User:", ":lethe", "User:lethe ", "User:le\nthe",
	} {
		who.Lethe = wrong
		err := who.Check()
		require.ErrorContains(t, err, "lethe is", wrong)
		require.NotContains(t, err.Error(), "\n")
	}
}
