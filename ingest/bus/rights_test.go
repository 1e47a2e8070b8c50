package bus_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

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

// Brokers learn of ACLs one after the other, and who starts at one that has not ends. All of them are waited for, but
// for those that do not tell.
func TestRightsAreWaitedFor(t *testing.T) {
	const late = int32(1)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(3))
	require.NoError(t, err)
	defer cluster.Close()
	var asked, learns atomic.Int64
	var says atomic.Int64
	cluster.ControlKey(int16(kmsg.DescribeACLs), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		answer := request.ResponseKind().(*kmsg.DescribeACLsResponse)
		answer.ErrorCode = int16(says.Load())
		mine := cluster.CurrentNode() == late && asked.Add(1) <= learns.Load()
		return answer, nil, mine || answer.ErrorCode != 0
	})
	cfg := bus.At(cluster.ListenAddrs()...)
	cfg.RequestTimeout, cfg.FetchWait = 3*time.Second, 10*time.Millisecond
	c, err := bus.Open(cfg)
	require.NoError(t, err)
	defer c.Close()
	rights := c.Admin().Rights(bus.Principals{
		Producer: "User:producer", Compliance: "User:compliance", Lethe: "User:lethe", Reader: "User:reader",
	})

	learns.Store(6)
	require.NoError(t, c.Admin().Grant(t.Context(), rights))
	require.Greater(t, asked.Load(), int64(6))

	learns.Store(1 << 40)
	err = c.Admin().Grant(t.Context(), rights)
	require.ErrorContains(t, err, `the ACLs are made, and broker 1 may refuse what they allow until it has learnt of them`)
	require.ErrorContains(t, err, `it does not know "User:producer: allow Write on topic lethe.transactions.v1`)

	says.Store(int64(kerr.SecurityDisabled.Code))
	require.NoError(t, c.Admin().Grant(t.Context(), rights))
}
