package column_test

import (
	"context"
	"fmt"

	"lethe"
	"lethe/trainer"
	"lethe/trainer/column"
	"lethe/trainer/kernels"
)

// A shard's model learns from three timesteps. Then a node of the second is
// erased: its slice is replaced, and training goes on from the checkpoint before
// it. What comes out is what training without the node gives, byte for byte.
func Example() {
	ctx := context.Background()
	config := trainer.Defaults()
	config.Hidden, config.Passes = 4, 1
	engine, err := trainer.NewEngine(config, kernels.Portable())
	if err != nil {
		panic(err)
	}
	shard := column.Column{Engine: engine, Shard: 7}

	slices := []*lethe.Slice{exampleSlice(0, 3), exampleSlice(1, 4), exampleSlice(2, 3)}
	var checkpoints []*trainer.Checkpoint
	for step, err := range shard.Replay(ctx, nil, slices) {
		if err != nil {
			panic(err)
		}
		checkpoints = append(checkpoints, step.Checkpoint)
	}

	slices[1] = exampleSlice(1, 3) // without its last node
	replayed, err := shard.Newest(ctx, checkpoints[0], slices)
	if err != nil {
		panic(err)
	}
	anew, err := shard.Newest(ctx, nil, slices)
	if err != nil {
		panic(err)
	}
	fmt.Println("forgot:", trainer.DigestCheckpoint(replayed) != trainer.DigestCheckpoint(checkpoints[2]))
	fmt.Println("as if never seen:", trainer.DigestCheckpoint(replayed) == trainer.DigestCheckpoint(anew))

	// Output:
	// forgot: true
	// as if never seen: true
}

// exampleSlice has nodes with one feature, which is high for illicit ones.
func exampleSlice(t lethe.Timestep, nodes int) *lethe.Slice {
	s := &lethe.Slice{Timestep: t, Previous: t - 1, Shard: 7, FeatureCount: 1}
	for i := range nodes {
		s.Nodes = append(s.Nodes, lethe.Pseudonym{byte(i)})
		s.Features = append(s.Features, float32(i%2))
		s.Labels = append(s.Labels, []lethe.Label{lethe.Licit, lethe.Illicit}[i%2])
	}
	return s
}
