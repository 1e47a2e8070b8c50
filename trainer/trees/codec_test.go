package trees

import (
	"crypto/sha256"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/canonical"
	"lethe/internal/fuzzing"
)

func TestCodecRefusesWhatWasNotWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawConfig(t)
		m, _ := mustFit(t, drawRows(t, o.Classes), o)
		data := m.Encode()
		back, err := Decode(data)
		require.NoError(t, err)
		require.Equal(t, data, back.Encode())
		_, err = Decode(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")])
		require.ErrorIs(t, err, canonical.ErrCorrupt)
		altered := append([]byte(nil), data...)
		altered[rapid.IntRange(0, len(data)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		_, err = Decode(altered)
		require.ErrorIs(t, err, canonical.ErrCorrupt)
	})
}

// A forged tree with a right checksum must not send a row in circles or out of
// its features.
func TestCodecRefusesForgedTrees(t *testing.T) {
	good := tree{{feature: 0, value: 1, right: 2, cover: 3}, {feature: leaf, cover: 1}, {feature: leaf, cover: 2}}
	endless := float32(math.Inf(1))
	for name, change := range map[string]func(tree) tree{
		"circle":            func(t tree) tree { t[0].right = 0; return t },
		"beyond":            func(t tree) tree { t[0].right = 3; return t },
		"feature":           func(t tree) tree { t[0].feature = 2; return t },
		"negative":          func(t tree) tree { t[1].feature = -2; return t },
		"empty":             func(tree) tree { return nil },
		"open end":          func(t tree) tree { t[2].feature = 1; return t },
		"NaN":               func(t tree) tree { t[0].value = float32(math.NaN()); return t },
		"a cover of NaN":    func(t tree) tree { t[2].cover = float32(math.NaN()); return t },
		"a cover below 0":   func(t tree) tree { t[0].cover = -1; return t },
		"an infinite cover": func(t tree) tree { t[1].cover = endless; return t },
		"infinite":          func(t tree) tree { t[1].value = endless; return t },
	} {
		m := &Model{classes: 2, features: 2, base: []float64{0}, trees: []tree{change(append(tree(nil), good...))}}
		_, err := Decode(m.Encode())
		require.ErrorIs(t, err, canonical.ErrCorrupt, name)
	}
	for name, m := range map[string]*Model{
		"one tree for three scores": {classes: 3, features: 2, base: make([]float64, 3), trees: []tree{good}},
		"a base score of NaN":       {classes: 2, features: 2, base: []float64{math.NaN()}, trees: []tree{good}},
	} {
		_, err := Decode(m.Encode())
		require.ErrorIs(t, err, canonical.ErrCorrupt, name)
	}
}

// The bytes are pinned: they are promised to be the same on every architecture.
// A change of the arithmetic or of the format shows here.
func TestBytesArePinned(t *testing.T) {
	m, _, err := Fit(t.Context(), pinnedRows(), with(func(c *Config) {
		c.Classes, c.Rounds, c.FeatureShare, c.RowShare, c.Seed = 3, 20, 0.7, 0.8, 5
	}))
	require.NoError(t, err)
	require.Equal(t, "7760b1b27f030e43f2b8aee27df8b8b2f667daa823203d0067ecbdcc33a9e66b",
		canonical.DigestOf(m.Encode()).String())
}

// A model of another version is refused.
func TestOtherVersionIsRefused(t *testing.T) {
	m, _, err := Fit(t.Context(), pinnedRows(), with(func(c *Config) { c.Classes, c.Rounds = 3, 1 }))
	require.NoError(t, err)
	other := m.Encode()
	other[4]++
	sum := sha256.Sum256(other[:len(other)-sha256.Size])
	_, err = Decode(append(other[:len(other)-sha256.Size], sum[:]...))
	require.ErrorIs(t, err, canonical.ErrVersion)
}

// What is decoded can also be asked: a forged tree must not panic or run in
// circles.
func FuzzDecode(f *testing.F) {
	small := &Model{classes: 2, features: 2, base: []float64{.5}, trees: []tree{
		{{feature: 1, value: .25, right: 2}, {feature: leaf, value: -1}, {feature: leaf, value: 1}},
	}}
	several := &Model{classes: 3, features: 1, base: []float64{.5, .25, .25}, trees: []tree{
		{
			{feature: 0, value: 2, right: 2, cover: 4, missingLeft: true},
			{feature: leaf, value: 1, cover: 3}, {feature: leaf, cover: 1},
		},
		{{feature: leaf, value: 1, cover: 4}}, {{feature: leaf, cover: 4}},
	}}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		m, err := Decode(message)
		if err != nil {
			return nil, err
		}
		if m.features <= 1024 {
			asked := make([]float32, 5*m.features)
			if _, err := m.Probabilities(asked); err != nil {
				return nil, err
			}
			asked[0] = missing()
			if _, err := m.Probabilities(asked); err != nil {
				return nil, err
			}
		}
		return m.Encode(), nil
	}, small.Encode(), several.Encode())
}
