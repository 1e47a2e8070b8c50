package snapshot_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/snapshot"
)

func parseTimestep(s string) lethe.Timestep {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return -7
	}
	return lethe.Timestep(n)
}

func targets(input string) (out []lethe.Target) {
	for _, id := range strings.Fields(input) {
		if subject, isSubject := strings.CutPrefix(id, "%"); isSubject {
			subject, until, _ := strings.Cut(subject, "@")
			out = append(out, lethe.SubjectThrough(subject, parseTimestep(until)))
			continue
		}
		if source, target, joined := strings.Cut(id, ">"); joined {
			out = append(out, lethe.PaymentBetween(lethe.TransactionID(source), lethe.TransactionID(target)))
			continue
		}
		out = append(out, lethe.Transactions(lethe.TransactionID(id))...)
	}
	return out
}

// inTurn deals nodes to two shards.
func inTurn(g *lethe.Snapshot) ([]lethe.ShardID, error) {
	shards := make([]lethe.ShardID, len(g.Nodes))
	for i := range shards {
		shards[i] = lethe.ShardID(i % 2)
	}
	return shards, nil
}

func formatSnapshot(g *lethe.Snapshot, shards []lethe.ShardID) string {
	var out strings.Builder
	fmt.Fprintf(&out, "timestep %d revision %d\n", g.Timestep, g.Revision)
	for i, n := range g.Nodes {
		fmt.Fprintf(&out, "  %s %v %s", n.ID, g.Row(i), n.Label)
		if shards != nil {
			fmt.Fprintf(&out, " shard %d", shards[i])
		}
		out.WriteString("\n")
	}
	for _, p := range g.Payments {
		fmt.Fprintf(&out, "  %s > %s\n", g.Nodes[p.Source].ID, g.Nodes[p.Target].ID)
	}
	return out.String()
}

// show tells what a closed timestep holds, and the letters to be confirmed.
func (h *harness) show(at lethe.Timestep) (string, error) {
	c, err := h.store.Load(at)
	if err != nil {
		return "", err
	}
	letters, err := h.store.Letters().Unconfirmed()
	out := fmt.Sprintf("%s previous %d: %s", c.Info.State, c.Info.Previous, formatSnapshot(c.Snapshot, c.Assignment))
	return out + formatLetters(letters), err
}

func (h *harness) letters(t *testing.T) string {
	all, err := h.store.Letters().Unconfirmed()
	require.NoError(t, err)
	return formatLetters(all)
}

func formatLetters(letters []snapshot.Letter) string {
	var out strings.Builder
	for _, l := range letters {
		place := fmt.Sprintf("%s/%d@%d", l.Origin.Topic, l.Origin.Partition, l.Origin.Offset)
		if l.Withdrawn {
			fmt.Fprintf(&out, "withdrawn %s\n", place)
			continue
		}
		fmt.Fprintf(&out, "refused %s %q: %s (%s)\n", place, l.Origin.Value, l.Reason, l.Detail)
	}
	return out.String()
}

func formatInfos(infos []snapshot.Info) string {
	var out strings.Builder
	for _, i := range infos {
		fmt.Fprintf(&out, "%d %s revision %d: %d nodes %d payments %d labels, previous %d",
			i.Timestep, i.State, i.Revision, i.Nodes, i.Payments, i.Labels, i.Previous)
		if i.Waiting > 0 {
			fmt.Fprintf(&out, ", %d wait", i.Waiting)
		}
		out.WriteString("\n")
	}
	return out.String()
}
