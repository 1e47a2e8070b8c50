package worlds

import (
	"lethe"
	"lethe/configs"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/decision"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// componentLists are the ensembles that worlds have: a network per shard where there are
// no components, else a meta-model over components that look at groups of shards. One with
// a single group keeps the meta-model from learning.
func componentLists() [][]string {
	const network = "elliptic-gin:3:hidden=4:window=2:passes=1"
	return [][]string{
		nil,
		{network, "trees:2:rounds=3:leaves=3:rows=1:window=2", "logistic:3:window=3"},
		{"elliptic-gin:2:hidden=4:window=2:passes=1", "logistic:2"},
		{network, "trees:1:rounds=3:leaves=3:rows=1"},
	}
}

// models say which models an ensemble has and how they are put together.
type models struct {
	layout ensemble.Layout
	// over is nil for ensembles without a meta-model.
	over    *meta.Config
	scoring scoring.Config
}

// modelsOf are the models that trainer.components name, as in a configuration.
func modelsOf(components []string) (m models, err error) {
	if len(components) == 0 {
		return models{ensemble.PerShard(smallModel(), shards), nil, scoring.Defaults()}, nil
	}
	c := configs.Default()
	c.Seed, c.Partition.Shards = smallModel().Seed, shards
	c.Trainer.Model, c.Trainer.Components = configs.Stack, components
	c.Scoring.Aggregation, c.Scoring.Threshold, c.Scoring.LearnTimesteps = scoring.MethodStack, "auto", 2
	m.scoring = c.Scoring
	if m.layout, err = c.Layout(); err == nil {
		m.over, err = c.MetaConfig()
	}
	return m, err
}

// lineageOf returns what a model, or the meta-model, that was published is made of.
func (m models) lineageOf(message wire.Message) (lethe.Digest, error) {
	if m.over != nil && int(message.Key.Shard) == m.layout.Models() {
		over, err := meta.Decode(message.Payload)
		if err != nil {
			return lethe.Digest{}, err
		}
		return over.Lineage, nil
	}
	checkpoint, err := trainer.DecodeCheckpoint(message.Payload)
	if err != nil {
		return lethe.Digest{}, err
	}
	return checkpoint.Lineage, nil
}

// runner trains and asks the models as the roles do.
func (m models) runner() (ensemble.Runner, error) {
	return ensemble.NewRunner(m.layout, kernels.Default(), 1)
}

// combine returns the probabilities of illicit and the threshold for a graph.
func (m models) combine(e *ensemble.Ensemble, answers *ensemble.Answers) ([]float64, float64, error) {
	rule, err := m.scoring.Rule()
	if err != nil {
		return nil, 0, err
	}
	if e.Meta != nil {
		illicit := e.Meta.Probabilities(answers.Logits(m.layout))
		return illicit, e.Meta.ThresholdFor(rule, illicit), nil
	}
	illicit := ensemble.Illicit(scoring.Mean(answers.Shards))
	return illicit, decision.Choose(rule, illicit, nil), nil
}
