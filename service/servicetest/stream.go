package servicetest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/internal/residue"
)

// SmallStream is generated, with few features.
func SmallStream(t testing.TB, steps, nodes int, seed uint64) *dataset.Stream {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = steps, nodes, 12, seed
	s, err := dataset.Generate(options)
	require.NoError(t, err)
	return s
}

// Part is a stream of some timesteps alone.
func Part(t testing.TB, s *dataset.Stream, first, last lethe.Timestep) *dataset.Stream {
	t.Helper()
	part, err := s.Slice(first, last)
	require.NoError(t, err)
	return part
}

// LabelledIllicit returns the ids of labelled illicit transactions of a
// timestep.
func LabelledIllicit(s *dataset.Stream, t lethe.Timestep) []lethe.TransactionID {
	var out []lethe.TransactionID
	for _, step := range s.Steps {
		if step.Timestep != t {
			continue
		}
		for _, l := range step.Labels {
			if l.Label == lethe.Illicit {
				out = append(out, l.ID)
			}
		}
	}
	return out
}

func Step(s *dataset.Stream, at lethe.Timestep) *dataset.Step {
	for i := range s.Steps {
		if s.Steps[i].Timestep == at {
			return &s.Steps[i]
		}
	}
	return nil
}

// Without is the stream of a sender who never knew the transactions.
func Without(s *dataset.Stream, ids ...lethe.TransactionID) *dataset.Stream {
	out := &dataset.Stream{Name: s.Name, FeatureCount: s.FeatureCount}
	gone := func(id lethe.TransactionID) bool { return slices.Contains(ids, id) }
	for _, step := range s.Steps {
		next := dataset.Step{Timestep: step.Timestep}
		for _, tx := range step.Transactions {
			if !gone(tx.ID) {
				next.Transactions = append(next.Transactions, tx)
			}
		}
		for _, p := range step.Payments {
			if !gone(p.Source) && !gone(p.Target) {
				next.Payments = append(next.Payments, p)
			}
		}
		for _, l := range step.Labels {
			if !gone(l.ID) {
				next.Labels = append(next.Labels, l)
			}
		}
		out.Steps = append(out.Steps, next)
	}
	return out
}

// FormsOf lists the forms in which a transaction could be left.
func FormsOf(t testing.TB, c configs.Config, s *dataset.Stream, id lethe.TransactionID) []residue.Form {
	t.Helper()
	secret, err := configs.LoadOrCreateSecret(c.SecretFile, nil)
	require.NoError(t, err)
	forms, err := residue.Of(secret, s, id)
	require.NoError(t, err)
	return forms
}

// Left lists where the forms stand in the files of a folder, which a running
// service may change meanwhile.
func Left(t testing.TB, dir string, forms []residue.Form) []residue.Hit {
	t.Helper()
	report, err := residue.Search(forms, dir)
	require.NoError(t, err)
	require.Greater(t, report.Files, 10, "there is hardly a file to search")
	return report.Hits
}
