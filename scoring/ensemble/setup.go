package ensemble

import (
	"bytes"
	"encoding/json"
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/scoring/meta"
	"lethe/trainer/kernels"
)

const setupFormat = "lethe-setup/1"

const (
	// maxSetupBytes bounds an encoded setup: one of 60 components has some 70 kB.
	maxSetupBytes = 1 << 20
	// maxSetupShards bounds its shards.
	maxSetupShards = 1 << 16
)

// Setup is everything that the bytes of an ensemble's models depend on besides their slices. It
// contains no personal data; with it and the slices the models can be retrained anywhere.
type Setup struct {
	Layout
	// Kernels names the kernel set.
	Kernels string
	// Meta is the configuration of the meta-model, nil for none.
	Meta *meta.Config
}

// setupRecord is the stored form of a setup.
type setupRecord struct {
	Format     string       `json:"format"`
	Shards     int          `json:"shards"`
	Kernels    string       `json:"kernel_set"`
	Components []Component  `json:"components"`
	Meta       *meta.Config `json:"meta_model,omitempty"`
}

// Encode returns the setup as one line of JSON. Equal setups have equal bytes.
func (s Setup) Encode() ([]byte, error) {
	out, err := json.Marshal(setupRecord{setupFormat, s.Shards, s.Kernels, s.Components, s.Meta})
	if err != nil {
		return nil, fmt.Errorf("setup of the ensemble: %w", err)
	}
	return out, nil
}

// DigestSetup returns the digest of an encoded setup.
func DigestSetup(encoded []byte) lethe.Digest { return canonical.DigestOf(encoded) }

// DecodeSetup decodes the output of Encode and nothing else: a field unknown to this version would change the
// training. The error describes the problem, including invalid values.
func DecodeSetup(data []byte) (Setup, error) {
	if len(data) > maxSetupBytes {
		return Setup{}, fmt.Errorf("setup of the ensemble: %d bytes, at most %d", len(data), maxSetupBytes)
	}
	var r setupRecord
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Setup{}, fmt.Errorf("setup of the ensemble: %w", err)
	}
	if r.Format != setupFormat {
		return Setup{}, fmt.Errorf("setup of the ensemble: format %.40q, want %q", r.Format, setupFormat)
	}
	if r.Shards > maxSetupShards {
		return Setup{}, fmt.Errorf("setup of the ensemble: %d shards, at most %d", r.Shards, maxSetupShards)
	}
	s := Setup{Layout{r.Shards, r.Components}, r.Kernels, r.Meta}
	err := s.Validate()
	if err == nil && s.Meta != nil {
		err = s.Meta.Validate()
	}
	if err != nil {
		return Setup{}, fmt.Errorf("setup of the ensemble: %w", err)
	}
	if again, err := s.Encode(); err != nil || !bytes.Equal(again, data) {
		return Setup{}, fmt.Errorf("setup of the ensemble: not as lethe writes it")
	}
	return s, nil
}

// Runner returns a runner that can retrain the models. The error means that this program lacks the
// kernel set, or that the layout is invalid.
func (s Setup) Runner(workers int) (Runner, error) {
	set, err := kernels.Named(s.Kernels)
	if err != nil {
		return Runner{}, err
	}
	return NewRunner(s.Layout, set, workers)
}

// Number returns the number of a component's model for a group.
func (l Layout) Number(component, in int) (model lethe.ShardID, found bool) {
	if component < 0 || component >= len(l.Components) || in < 0 || in >= l.Components[component].Groups {
		return 0, false
	}
	for _, c := range l.Components[:component] {
		in += c.Groups
	}
	return lethe.ShardID(in), true
}
