package bench

import (
	"testing"

	"lethe/configs"
	"lethe/dataset"
)

// TestAttackCellsAreValid: what a cell leaves open is filled from attack's
// defaults, so that every cell can run; what it names is kept.
func TestAttackCellsAreValid(t *testing.T) {
	generate := dataset.GenerateDefaults()
	generate.Steps, generate.IllicitFraction, generate.LicitFraction = 6, .1, .4
	stream, err := dataset.Generate(generate)
	if err != nil {
		t.Fatal(err)
	}
	config := configs.PerShard()
	for _, c := range []AttackCell{
		{Shards: 2, Hidden: 8}, {Shards: 2, Hidden: 8, Timesteps: 4},
		{Shards: 2, Hidden: 8, Targets: 40}, {Shards: 2, Hidden: 8, Requests: 2, Targets: 40},
	} {
		o := c.options(stream, config)
		if err := o.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if c.Targets > 0 && o.Targets != c.Targets || c.Requests > 0 && o.Requests != c.Requests {
			t.Errorf("%+v attacks %d targets in %d requests", c, o.Targets, o.Requests)
		}
		if want := c.Timesteps; want > 0 && len(o.Stream.Steps) != want {
			t.Errorf("%+v takes %d timesteps", c, len(o.Stream.Steps))
		}
	}
	if len(stream.Steps) != generate.Steps {
		t.Error("the caller's stream was cut")
	}
}
