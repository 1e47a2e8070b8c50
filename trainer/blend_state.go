package trainer

import (
	"fmt"
	"math"

	"lethe/canonical"
	"lethe/internal/portable"
	"lethe/trainer/models"
)

// blend is the state of a blend after a slice.
type blend struct {
	rate float64
	// models and losses hold one entry per component. Models are nil before the first slice.
	models []*Checkpoint
	losses []float64
}

func newBlend(c Config) *blend {
	n := len(c.Components)
	return &blend{rate: c.Blend.Rate, models: make([]*Checkpoint, n), losses: make([]float64, n)}
}

// weights returns the components' weights, which add up to 1.
func (b *blend) weights() []float64 {
	w := make([]float64, len(b.losses))
	for k, loss := range b.losses {
		w[k] = -float64(b.rate * loss)
	}
	portable.Softmax(w)
	return w
}

const (
	blendMagic   = "LBLD"
	blendVersion = 1
)

// encode returns the state's canonical bytes.
func (b *blend) encode() []byte {
	w := canonical.NewWriter(blendMagic, blendVersion)
	w.Uint64(math.Float64bits(b.rate))
	w.Count(len(b.models))
	for k, c := range b.models {
		w.Uint64(math.Float64bits(b.losses[k]))
		body := EncodeCheckpoint(c)
		w.Count(len(body))
		w.Bytes(body)
	}
	return w.Seal()
}

// decodeBlend decodes a blend. The error wraps canonical.ErrCorrupt or canonical.ErrVersion.
func decodeBlend(message []byte, networks models.Families) (*blend, error) {
	r, err := canonical.NewReader(message, blendMagic, blendVersion)
	if err != nil {
		return nil, fmt.Errorf("blend: %w", err)
	}
	b := &blend{rate: math.Float64frombits(r.Uint64())}
	bodies := make([][]byte, r.Count(8))
	b.losses = make([]float64, len(bodies))
	for k := range bodies {
		b.losses[k] = math.Float64frombits(r.Uint64())
		bodies[k] = readBytes(r)
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("blend: %w", err)
	}
	if len(bodies) < 1 || len(bodies) > MaxComponents {
		return nil, fmt.Errorf("blend: %w: %d components", canonical.ErrCorrupt, len(bodies))
	}
	for k, body := range bodies {
		c, err := decodeCheckpoint(body, networks)
		switch {
		case err != nil:
			return nil, fmt.Errorf("blend component %d: %w", k, err)
		case c.Model == Blend:
			return nil, fmt.Errorf("blend component %d: %w: a blend in a blend", k, canonical.ErrCorrupt)
		case !(b.losses[k] >= 0) || math.IsInf(b.losses[k], 1):
			return nil, fmt.Errorf("blend component %d: %w: log-loss %g", k, canonical.ErrCorrupt, b.losses[k])
		}
		b.models = append(b.models, c)
	}
	return b, nil
}

// shape returns the number of features and classes of the components, which must be equal.
func (b *blend) shape(networks models.Families) (features, classes int, err error) {
	for _, c := range b.models {
		f, n, err := c.shape(networks)
		switch {
		case err != nil:
			return 0, 0, err
		case f == 0:
			continue
		case features != 0 && (f != features || n != classes):
			return 0, 0, fmt.Errorf("%w: components of %d and %d features, %d and %d classes", canonical.ErrCorrupt, features, f,
				classes, n)
		}
		features, classes = f, n
	}
	return features, classes, nil
}
