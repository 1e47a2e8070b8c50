package challenge_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit/challenge"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// deployment is one that keeps a log, slices and models in memory, and can cheat.
type deployment struct {
	name   string
	key    ed25519.PrivateKey
	secret lethe.Secret
	setup  ensemble.Setup
	runner ensemble.Runner

	slices map[challenge.Pair]*lethe.Slice
	// models are by number and timestep.
	models map[challenge.Pair]*trainer.Checkpoint
	leaves [][]byte
	view   *challenge.View
}

const shardsOfTests, timestepsOfTests = 4, 6

// networks is a small network per shard, whose window is of some timesteps.
func networks(window int) ensemble.Component {
	c := trainer.Defaults()
	c.Hidden, c.Passes, c.Seed, c.WindowTimesteps = 4, 1, 5, window
	return ensemble.Component{Config: c, Groups: shardsOfTests}
}

// regressions are two logistic regressions, which are fitted anew for each timestep.
func regressions() ensemble.Component {
	return ensemble.Component{Config: trainer.DefaultsOf(trainer.Logistic), Groups: 2}
}

// deployed returns a deployment that has trained everything.
func deployed(t require.TestingT, name string, components ...ensemble.Component) *deployment {
	return deployedOver(t, name, nil, components...)
}

// deployedOver is deployed with a meta-model, or none, above the components.
func deployedOver(
	t require.TestingT, name string, over *meta.Config, components ...ensemble.Component,
) *deployment {
	return deployedBy(t, kernels.PortableName, name, over, components...)
}

// deployedBy is deployedOver by a set of kernels.
func deployedBy(
	t require.TestingT, set, name string, over *meta.Config, components ...ensemble.Component,
) *deployment {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, name)
	d := &deployment{
		name: name, key: ed25519.NewKeyFromSeed(seed), secret: lethe.Secret{1},
		setup: ensemble.Setup{
			Layout:  ensemble.Layout{Shards: shardsOfTests, Components: components},
			Kernels: set, Meta: over,
		},
		slices: make(map[challenge.Pair]*lethe.Slice), models: make(map[challenge.Pair]*trainer.Checkpoint),
	}
	var err error
	d.view, err = challenge.Read(nil)
	require.NoError(t, err)
	d.runner, err = d.setup.Runner(1)
	require.NoError(t, err)
	encoded, err := d.setup.Encode()
	require.NoError(t, err)
	d.log(t, translog.Setup{Digest: ensemble.DigestSetup(encoded)})
	for at := range lethe.Timestep(timestepsOfTests) {
		for shard := range lethe.ShardID(shardsOfTests) {
			p := challenge.Pair{Shard: shard, Timestep: at}
			d.replaceSlice(t, p, sliceOf(p))
		}
		for model := range lethe.ShardID(d.setup.Models()) {
			d.replaceModel(t, model, d.train(t, model, at, d.slices))
		}
	}
	return d
}

func sliceOf(p challenge.Pair) *lethe.Slice {
	const features = 3
	draw := lethe.NewDraw(1, "test-slice", uint64(p.Shard), uint64(p.Timestep))
	s := &lethe.Slice{Timestep: p.Timestep, Previous: p.Timestep - 1, Shard: p.Shard, FeatureCount: features}
	for i := range 5 {
		s.Nodes = append(s.Nodes, lethe.Pseudonym{byte(i), byte(p.Timestep), byte(p.Shard)})
		s.Labels = append(s.Labels, []lethe.Label{lethe.Illicit, lethe.Licit, lethe.Unknown}[i%3])
		for range features {
			s.Features = append(s.Features, float32(draw.Float64()))
		}
	}
	s.Edges = []lethe.Edge{{A: 0, B: 1}, {A: 1, B: 2}}
	return s
}

// without returns a slice without its last node.
func without(s *lethe.Slice) (*lethe.Slice, lethe.Pseudonym) {
	out, last := *s, len(s.Nodes)-1
	out.Nodes, out.Labels = s.Nodes[:last], s.Labels[:last]
	out.Features = s.Features[:last*s.FeatureCount]
	return &out, s.Nodes[last]
}

// log appends leaves.
func (d *deployment) log(t require.TestingT, leaves ...translog.Leaf) {
	for _, leaf := range leaves {
		text, err := translog.Encode(leaf)
		require.NoError(t, err)
		d.leaves = append(d.leaves, text)
		d.view.Take(leaf)
	}
}

func (d *deployment) replaceSlice(t require.TestingT, p challenge.Pair, s *lethe.Slice) {
	d.slices[p] = s
	d.log(t, translog.Slice{
		Timestep: p.Timestep, Shard: p.Shard, Revision: 1, Digest: canonical.DigestSlice(s), Replaces: d.view.Slice(p),
	})
}

func (d *deployment) replaceModel(t require.TestingT, model lethe.ShardID, c *trainer.Checkpoint) {
	d.models[challenge.Pair{Shard: model, Timestep: c.Timestep}] = c
	component, group := d.setup.Place(model)
	d.log(t, translog.Checkpoint{
		Component: component, Group: group, Timestep: c.Timestep, Lineage: c.Lineage,
		Digest: trainer.DigestCheckpoint(c), Replaces: d.view.Model(component, group, c.Timestep),
	})
}

// train trains a model through a timestep, from the model before that it has.
func (d *deployment) train(
	t require.TestingT, model lethe.ShardID, at lethe.Timestep, from map[challenge.Pair]*lethe.Slice,
) *trainer.Checkpoint {
	var window []*lethe.Slice
	config := d.setup.Config(model)
	for back := max(0, at+1-lethe.Timestep(config.WindowTimesteps)); back <= at; back++ {
		var parts []*lethe.Slice
		for _, shard := range d.setup.ShardsOf(model) {
			parts = append(parts, from[challenge.Pair{Shard: shard, Timestep: back}])
		}
		s, err := d.setup.Slice(model, parts)
		require.NoError(t, err)
		window = append(window, s)
	}
	var previous *trainer.Checkpoint
	if config.Schedule == trainer.Continual {
		previous = d.models[challenge.Pair{Shard: model, Timestep: at - 1}]
	}
	made, err := d.runner.Column(model).Advance(context.Background(), previous, window)
	require.NoError(t, err)
	return made.Checkpoint
}

// cheat says what a deployment leaves out of an erasure.
type cheat struct {
	// keepsSlice: the slice keeps the record.
	keepsSlice bool
	// keepsModels is for how many timesteps from the erased one on the old models are kept.
	keepsModels int
	// onOldSlices: trained again is on the slices of before.
	onOldSlices bool
	// says are the states that the log is told, instead of that all was done.
	says []deletions.State
}

// erase erases the last node of a slice, and says that everything was done.
func (d *deployment) erase(t require.TestingT, p challenge.Pair, how cheat) {
	request := canonical.DigestOf([]byte{byte(p.Shard), byte(p.Timestep)})
	at := time.UnixMilli(1_700_000_000_000).UTC()
	next, gone := without(d.slices[p])
	salts := deletions.Salts(d.secret, request, 1)
	d.log(t, translog.Request{
		Digest: request, Scope: lethe.ScopeStubs, At: at, Targets: 1,
		Commitments: []lethe.Digest{deletions.Commitment(salts[0], gone)}, Salts: deletions.SaltsDigest(salts),
	})
	from := d.slices
	if how.onOldSlices {
		from = make(map[challenge.Pair]*lethe.Slice)
		for at, s := range d.slices {
			from[at] = s
		}
	}
	if !how.keepsSlice {
		d.replaceSlice(t, p, next)
	}
	for _, model := range d.setup.ModelsOf(p.Shard) {
		for at := p.Timestep; at < timestepsOfTests; at++ {
			anew := d.setup.Config(model).Schedule == trainer.Window
			if int(at-p.Timestep) >= how.keepsModels && (!anew || at == timestepsOfTests-1) {
				d.replaceModel(t, model, d.train(t, model, at, from))
			}
		}
	}
	said := how.says
	if said == nil {
		said = []deletions.State{deletions.Swapped, deletions.Erased, deletions.Verified}
	}
	for _, state := range said {
		d.log(t, translog.Transition{Request: request, State: state, At: at})
	}
}

// checkpoint signs the log as it is.
func (d *deployment) checkpoint(t require.TestingT) string {
	var tree translog.Tree
	require.NoError(t, tree.Append(d.leaves...))
	now, err := tree.Now()
	require.NoError(t, err)
	signer, err := translog.NewSigner(translog.Name(d.name), d.key)
	require.NoError(t, err)
	signed, err := signer.Sign(now)
	require.NoError(t, err)
	return signed.Note
}

// Slice implements challenge.Source.
func (d *deployment) Slice(p challenge.Pair) ([]byte, error) {
	if d.slices[p] == nil {
		return nil, errors.New("no such slice")
	}
	return canonical.EncodeSlice(d.slices[p]), nil
}

// Model implements challenge.Source.
func (d *deployment) Model(model lethe.ShardID, t lethe.Timestep) ([]byte, error) {
	c := d.models[challenge.Pair{Shard: model, Timestep: t}]
	if c == nil {
		return nil, errors.New("no such model")
	}
	return trainer.EncodeCheckpoint(c), nil
}

// Salts implements challenge.Source.
func (d *deployment) Salts(request lethe.Digest, n int) []lethe.Digest {
	return deletions.Salts(d.secret, request, n)
}

// FoundSalt implements challenge.Source.
func (d *deployment) FoundSalt(request lethe.Digest) lethe.Digest {
	return deletions.FoundSalt(d.secret, request)
}

// answer makes the bundle.
func (d *deployment) answer(t require.TestingT, c challenge.Challenge) *challenge.Bundle {
	setup, err := d.setup.Encode()
	require.NoError(t, err)
	b, err := challenge.Assemble(c, d.leaves, setup, d)
	require.NoError(t, err)
	return b
}

// ask answers a challenge and checks the answer, which goes through its bytes.
func (d *deployment) ask(t require.TestingT, c challenge.Challenge) *challenge.Report {
	b, err := challenge.DecodeBundle(d.answer(t, c).Encode())
	require.NoError(t, err)
	return d.check(t, b, c)
}

func (d *deployment) check(t require.TestingT, b *challenge.Bundle, c challenge.Challenge) *challenge.Report {
	r, err := challenge.Verify(context.Background(), b, c, challenge.Options{Key: d.key.Public().(ed25519.PublicKey)})
	require.NoError(t, err)
	require.Equal(t, len(r.Problems) == 0, r.OK)
	return r
}

// at asks for one pair.
func (d *deployment) at(t require.TestingT, p challenge.Pair) challenge.Challenge {
	return challenge.Challenge{Checkpoint: d.checkpoint(t), Shard: &p.Shard, Timestep: &p.Timestep}
}

func everything(t *testing.T, d *deployment) challenge.Challenge {
	return challenge.Challenge{Checkpoint: d.checkpoint(t)}
}
