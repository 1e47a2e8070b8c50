package ensemble_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring/decision"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

func setups(t *testing.T) ensemble.Setup {
	t.Helper()
	s := ensemble.Setup{Layout: ensemble.Layout{Shards: 5}, Kernels: kernels.PortableName}
	for _, text := range []string{"elliptic-gin", "trees:2:rate=0.05", "logistic:2"} {
		c, err := ensemble.ParseComponent(text, s.Shards, trainer.Defaults())
		require.NoError(t, err)
		s.Components = append(s.Components, c)
	}
	return s
}

// Whoever reads a setup trains by the very configuration: the fingerprints, which are in
// every checkpoint, are equal.
func TestSetupsAreReadAsTheyAreWritten(t *testing.T) {
	want := setups(t)
	text, err := want.Encode()
	require.NoError(t, err)
	got, err := ensemble.DecodeSetup(text)
	require.NoError(t, err)
	for i, c := range want.Components {
		require.Equal(t, c.Groups, got.Components[i].Groups)
		require.Equal(t, c.Config.Fingerprint(), got.Components[i].Config.Fingerprint())
	}
	again, err := got.Encode()
	require.NoError(t, err)
	require.Equal(t, text, again)
	_, err = got.Runner(1)
	require.NoError(t, err)
}

func TestOtherSetupsAreRefused(t *testing.T) {
	text, err := setups(t).Encode()
	require.NoError(t, err)
	for says, data := range map[string][]byte{
		"format":            bytes.Replace(text, []byte("lethe-setup/1"), []byte("lethe-setup/0"), 1),
		"unknown field":     bytes.Replace(text, []byte(`"shards"`), []byte(`"sharps"`), 1),
		"not as lethe":      append(bytes.Clone(text), ' '),
		"shards, at most":   bytes.Replace(text, []byte(`"shards":5`), []byte(`"shards":70000`), 1),
		"groups":            bytes.Replace(text, []byte(`"Groups":2`), []byte(`"Groups":9`), 1),
		"bytes, at most":    bytes.Repeat([]byte{' '}, 2<<20),
		"unexpected end of": text[:len(text)/2],
	} {
		_, err := ensemble.DecodeSetup(data)
		require.Error(t, err, says)
		if says != "unexpected end of" {
			require.ErrorContains(t, err, says)
		}
	}
	lacking := setups(t)
	lacking.Kernels = "abacus"
	_, err = lacking.Runner(1)
	require.ErrorContains(t, err, `kernel set "abacus" is not one of "fma", "portable"`)
}

// So is the meta-model's; and a setup without one has the bytes of before.
func TestTheMetaModelIsInTheSetup(t *testing.T) {
	s := setups(t)
	without, err := s.Encode()
	require.NoError(t, err)
	require.NotContains(t, string(without), "meta_model")
	over := meta.Defaults()
	for _, rule := range []string{"auto", "precision:0.95", "budget:12", "0.3"} {
		over.Threshold, err = decision.ParseRule(rule)
		require.NoError(t, err)
		s.Meta = &over
		text, err := s.Encode()
		require.NoError(t, err)
		got, err := ensemble.DecodeSetup(text)
		require.NoError(t, err)
		require.Equal(t, over.Fingerprint(), got.Meta.Fingerprint(), rule)
	}
	over.Timesteps = 0
	text, err := s.Encode()
	require.NoError(t, err)
	_, err = ensemble.DecodeSetup(text)
	require.ErrorContains(t, err, "timesteps")
}

func TestNumbersArePlaces(t *testing.T) {
	l := setups(t).Layout
	for model := range lethe.ShardID(l.Models()) {
		number, found := l.Number(l.Place(model))
		require.True(t, found)
		require.Equal(t, model, number)
	}
	_, found := l.Number(1, 2)
	require.False(t, found)
	_, found = l.Number(3, 0)
	require.False(t, found)
}
