package audit

import (
	"context"

	"lethe/partition"
	"lethe/partition/graph"
	"lethe/snapshot"
)

// checkIndependent checks that every transaction is in the shard that its pseudonym determines.
func checkIndependent(r *Report, config partition.Config, step *snapshot.Content) {
	g, err := graph.FromSnapshot(step.Snapshot)
	if err != nil {
		r.problem("timestep %d: %v", step.Info.Timestep, err)
		return
	}
	for _, n := range step.Snapshot.Nodes {
		config.Nodes = append(config.Nodes, n.Pseudonym)
	}
	want, _, err := partition.Run(context.Background(), g, config)
	if err != nil {
		r.problem("timestep %d: %v", step.Info.Timestep, err)
		return
	}
	wrong := 0
	for i, shard := range step.Assignment {
		if shard != want[i] {
			wrong++
		}
	}
	if wrong > 0 {
		r.problem("timestep %d: %d of %d transactions are not in the shard that their ids name", step.Info.Timestep, wrong,
			len(want))
	}
}
