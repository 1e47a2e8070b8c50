package scoring_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/scoring"
)

func samplePrediction() *scoring.Prediction {
	p := &scoring.Prediction{
		Transaction: "tx-of-somebody", Timestep: 31, Probability: 0.75, Threshold: 0.5,
		EnsembleVersion: scoring.EnsembleVersion([]lethe.Digest{{1}, {2}}),
		TrainedThrough:  30, Aggregation: scoring.MethodMean, Final: true,
	}
	p.Class = scoring.Classify(p.Probability, p.Threshold)
	p.ID = scoring.PredictionID(lethe.Secret{9}, p, lethe.Digest{4})
	return p
}

func TestPredictionBytes(t *testing.T) {
	p := samplePrediction()
	data, err := scoring.EncodePrediction(p)
	require.NoError(t, err)
	require.Equal(t, `{"id":"`+p.ID+`","transaction":"tx-of-somebody","timestep":31,"probability":0.75,`+
		`"class":"illicit","threshold":0.5,`+
		`"ensemble_version":"`+p.EnsembleVersion.String()+`","trained_through":30,"aggregation":"mean",`+
		`"final":true}`, string(data))
	got, err := scoring.DecodePrediction(data)
	require.NoError(t, err)
	require.Equal(t, p, got)
}

func TestPredictionIDNamesAllThatDecides(t *testing.T) {
	secret, graph := lethe.Secret{9}, lethe.Digest{4}
	base := scoring.PredictionID(secret, samplePrediction(), graph)
	require.Equal(t, base, scoring.PredictionID(secret, samplePrediction(), graph))
	require.NotEqual(t, base, scoring.PredictionID(lethe.Secret{8}, samplePrediction(), graph))
	ids := scoring.NewPredictionIDs(secret)
	for range 2 {
		require.Equal(t, base, ids.Of(samplePrediction(), graph))
	}
	require.NotEqual(t, base, scoring.PredictionID(secret, samplePrediction(), lethe.Digest{5}))
	for name, change := range map[string]func(*scoring.Prediction){
		"transaction": func(p *scoring.Prediction) { p.Transaction += "!" },
		"timestep":    func(p *scoring.Prediction) { p.Timestep++ },
		"ensemble":    func(p *scoring.Prediction) { p.EnsembleVersion[31]++ },
		"horizon":     func(p *scoring.Prediction) { p.TrainedThrough-- },
		"aggregation": func(p *scoring.Prediction) { p.Aggregation = "similarity@1" },
		"threshold":   func(p *scoring.Prediction) { p.Threshold = 0.6 },
		"late":        func(p *scoring.Prediction) { p.Late = true },
		"provisional": func(p *scoring.Prediction) { p.Final = false },
	} {
		p := samplePrediction()
		change(p)
		require.NotEqual(t, base, scoring.PredictionID(secret, p, graph), name)
	}
	p := samplePrediction()
	p.Probability = 0.76
	require.Equal(t, base, scoring.PredictionID(secret, p, graph), "a second probability must not hide behind a second id")

	// Of a provisional one it stands for the graph of the moment.
	p.Final = false
	moment := scoring.PredictionID(secret, p, graph)
	require.Equal(t, moment, scoring.PredictionID(secret, p, lethe.Digest{5}))
	p.Probability = 0.77
	require.NotEqual(t, moment, scoring.PredictionID(secret, p, graph))
}

func TestGraphDigestSeesWhatModelsSee(t *testing.T) {
	sample := func() *lethe.Snapshot {
		return &lethe.Snapshot{
			Timestep: 3, Revision: 1, FeatureCount: 1,
			Nodes:    []lethe.SnapshotNode{{Pseudonym: lethe.Pseudonym{1}, ID: "a"}, {Pseudonym: lethe.Pseudonym{2}, ID: "b"}},
			Features: []float32{0.5, 1},
			Payments: []lethe.Arc{{Source: 0, Target: 1}},
		}
	}
	base := scoring.GraphDigest(sample())
	labelled := sample()
	labelled.Revision++
	labelled.Nodes[0].Label = lethe.Illicit
	require.Equal(t, base, scoring.GraphDigest(labelled))
	require.Equal(t, lethe.Illicit, labelled.Nodes[0].Label, "the snapshot stays as it was")
	feature := sample()
	feature.Features[1] = 2
	require.NotEqual(t, base, scoring.GraphDigest(feature))
	require.NotEqual(t, base, scoring.GraphDigest(sample().Without(func(p lethe.Pseudonym) bool { return p[0] == 2 })))
}

func TestEnsembleVersion(t *testing.T) {
	// sha256sum of the 64 bytes 01 00.. 02 00..
	require.Equal(t, "ff55c97976a840b4ced964ed49e3794594ba3f675238b5fd25d282b60f70a194",
		scoring.EnsembleVersion([]lethe.Digest{{1}, {2}}).String())
	require.NotEqual(t, scoring.EnsembleVersion([]lethe.Digest{{1}, {2}}),
		scoring.EnsembleVersion([]lethe.Digest{{2}, {1}}))
	require.NotEqual(t, scoring.EnsembleVersion([]lethe.Digest{{1}}), scoring.EnsembleVersion([]lethe.Digest{{1}, {}}))
}

func TestPredictionsThatCannotBeAreRefused(t *testing.T) {
	for want, change := range map[string]func(*scoring.Prediction){
		"id is not shown":            func(p *scoring.Prediction) { p.ID = "7" },
		"transaction is not shown":   func(p *scoring.Prediction) { p.Transaction = "" },
		"want UTF-8":                 func(p *scoring.Prediction) { p.Transaction = "somebody\xff" },
		"timestep is -2":             func(p *scoring.Prediction) { p.Timestep = -2 },
		"probability is NaN":         func(p *scoring.Prediction) { p.Probability = math.NaN() },
		"probability is 1.5":         func(p *scoring.Prediction) { p.Probability = 1.5 },
		"threshold is -1":            func(p *scoring.Prediction) { p.Threshold = -1 },
		"want what probability 0.75": func(p *scoring.Prediction) { p.Class = "somebody" },
		"ensemble_version is 0000":   func(p *scoring.Prediction) { p.EnsembleVersion = lethe.Digest{} },
		"trained_through is -2":      func(p *scoring.Prediction) { p.TrainedThrough = -2 },
		"aggregation":                func(p *scoring.Prediction) { p.Aggregation = "" },
	} {
		p := samplePrediction()
		change(p)
		_, err := scoring.EncodePrediction(p)
		require.ErrorIs(t, err, scoring.ErrPrediction)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "somebody")
		if data, err := json.Marshal(p); err == nil && want != "want UTF-8" {
			_, err = scoring.DecodePrediction(data)
			require.ErrorIs(t, err, scoring.ErrPrediction)
			require.ErrorContains(t, err, want)
		}
	}
}

func TestDecodeNeverRepeatsTheRecord(t *testing.T) {
	for _, data := range []string{
		"", "null", "{", `{"transaction":"somebody"`, `{"transaction":"somebody"} x`, `{"transaction":{"somebody":1}}`,
		`{"timestep":424242424242424242424242}`, `{"ensemble_version":"somebody"}`, `{"id":"somebody"}`, "somebody",
	} {
		_, err := scoring.DecodePrediction([]byte(data))
		require.ErrorIs(t, err, scoring.ErrPrediction, data)
		require.NotContains(t, err.Error(), "somebody")
		require.NotContains(t, err.Error(), "4242")
	}
}

func TestDecodeOfAnythingIsAPredictionOrAnError(t *testing.T) {
	good, err := scoring.EncodePrediction(samplePrediction())
	require.NoError(t, err)
	rapid.Check(t, func(rt *rapid.T) {
		data := append([]byte(nil), good...)
		at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
		data[at] = rapid.Byte().Draw(rt, "byte")
		p, err := scoring.DecodePrediction(data)
		if err != nil {
			require.ErrorIs(rt, err, scoring.ErrPrediction)
			return
		}
		require.NoError(rt, p.Validate())
		again, err := scoring.EncodePrediction(p)
		require.NoError(rt, err)
		back, err := scoring.DecodePrediction(again)
		require.NoError(rt, err)
		require.Equal(rt, p, back)
	})
}
