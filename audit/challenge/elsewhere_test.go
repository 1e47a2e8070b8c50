package challenge_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/audit/challenge"
	"lethe/scoring/calibrate"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// every returns a deployment with models of every kind, after an erasure.
func every(t *testing.T, set, calibration string) *deployment {
	boosted, drawn := trainer.DefaultsOf(trainer.Trees), trainer.DefaultsOf(trainer.Trees)
	boosted.Trees.Rounds, drawn.Trees.Rounds, drawn.Trees.RowShare = 5, 5, .7
	over := meta.Defaults()
	over.Timesteps, over.Calibration.Method = 3, calibration
	d := deployedBy(t, set, "every", &over, networks(2), regressions(), ensemble.Component{Config: boosted, Groups: 2},
		ensemble.Component{Config: drawn, Groups: 1})
	d.learnMeta(t, func(*meta.Model) {})
	d.erase(t, challenge.Pair{Shard: 2, Timestep: 3}, cheat{})
	d.learnMeta(t, func(*meta.Model) {})
	return d
}

// The answers in testdata were made on amd64. What they commit to is trained anew on whatever
// processor this is: networks by both kernel sets, regressions, trees and what is above them.
func TestAnswersOfAnotherProcessorHold(t *testing.T) {
	for set, calibration := range map[string]string{
		kernels.PortableName: calibrate.Isotonic, kernels.FMAName: calibrate.Platt,
	} {
		path := filepath.Join("testdata", "answer-"+set)
		d := every(t, set, calibration)
		here := d.answer(t, challenge.Challenge{Checkpoint: d.checkpoint(t), Meta: true}).Encode()
		if _, err := os.Stat(path); os.IsNotExist(err) {
			require.NoError(t, os.WriteFile(path, here, 0o600))
			t.Fatalf("%s was missing and is made anew: run this again", path)
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		b, err := challenge.DecodeBundle(data)
		require.NoError(t, err)
		r := d.check(t, b, challenge.Challenge{Checkpoint: b.Checkpoint, Meta: true})
		require.Empty(t, r.Problems)
		require.Equal(t, set, r.KernelSet)
		require.Equal(t, shardsOfTests*timestepsOfTests+2+2+1+1, r.Models)
		require.Equal(t, 1, r.Requests)
		require.Equal(t, data, here, "a deployment here gives the very answer")
	}
}
