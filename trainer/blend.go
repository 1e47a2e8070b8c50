package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/portable"
	"lethe/trainer/models"
)

// Blend is a combination of several models per shard. Each is trained as it
// would be alone. A shard trusts each by how it has done so far: before a slice
// is trained on, every model scores it, and the model's log-losses on the
// shard's own labels add up. Probabilities are combined as weighted means of
// their logarithms, with weights proportional to e^(-rate · loss) (exponential
// weights: Vovk, "Aggregating Strategies", COLT 1990).
//
// Losses are part of the checkpoint and come from the shard's slices alone, each
// judged by models that had not seen it, so that a blend is replayed and
// forgets like any other model.
const Blend = "blend"

// MaxComponents bounds the models of a blend.
const MaxComponents = 8

// BlendOptions shape the model Blend.
type BlendOptions struct {
	// Components are the models, of Models and RowModels, each once. Default
	// EllipticGIN and Trees.
	Components []string
	// NetworkTimesteps is the window of the components that are networks, which
	// go on from their last state; the others are fitted anew to the whole
	// window. Default 10.
	NetworkTimesteps int
	// Rate is by how much a nat of log-loss lowers the logarithm of a weight,
	// default 0.05.
	Rate float64
}

// blendDefaults is EnsureDefaults for a blend. What shapes its components is
// left to their own defaults.
func (o Options) blendDefaults() Options {
	if o.Blend.Components == nil {
		o.Blend.Components = []string{models.EllipticGIN, Trees}
	}
	if o.Blend.NetworkTimesteps == 0 {
		o.Blend.NetworkTimesteps = 10
	}
	if o.Blend.Rate == 0 {
		o.Blend.Rate = 0.05
	}
	if o.Schedule == "" {
		o.Schedule = Continual
	}
	if o.WindowTimesteps == 0 {
		o.WindowTimesteps = 1000
	}
	if o.ClassWeights == "" {
		// Weights per class would move the probabilities of some components and
		// not of others.
		o.ClassWeights = EqualClasses
	}
	return o
}

// components returns the options of a blend's models, defaulted.
func (o Options) components() []Options {
	out := make([]Options, 0, len(o.Blend.Components))
	for _, model := range o.Blend.Components {
		c := o
		c.Model, c.Blend = model, BlendOptions{}
		c.Schedule = Window
		if !keepsBody(model) {
			c.Schedule, c.WindowTimesteps = Continual, o.Blend.NetworkTimesteps
		}
		out = append(out, c.EnsureDefaults())
	}
	return out
}

// validateBlend reports everything that is wrong with a blend's options.
func (o Options) validateBlend() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	b := o.Blend
	check(len(b.Components) >= 1 && len(b.Components) <= MaxComponents, "blend has %d components, want 1 to %d", len(b.Components), MaxComponents)
	for i, model := range b.Components {
		check(model != Blend, "blend component %q is a blend", model)
		check(!slices.Contains(b.Components[:i], model), "blend component %q is there twice", model)
	}
	check(b.NetworkTimesteps >= 1, "blend network timesteps is %d, want at least 1", b.NetworkTimesteps)
	check(b.Rate >= 0 && b.Rate <= 1e3, "blend rate is %g, want 0 to 1000", b.Rate)
	check(o.Schedule == Continual, "schedule is %q, want %q for model %q, which remembers past losses", o.Schedule, Continual, Blend)
	check(o.WindowTimesteps >= 1, "window is %d timesteps, want at least 1", o.WindowTimesteps)
	if len(problems) == 0 {
		for _, c := range o.components() {
			if err := c.Validate(); err != nil {
				problems = append(problems, fmt.Errorf("blend component %q: %w", c.Model, err))
			}
		}
	}
	return errors.Join(problems...)
}

// fitBlend judges the components on the newest slice and then trains them.
func (e *Engine) fitBlend(ctx context.Context, next *Checkpoint, window []*lethe.Slice) (Report, error) {
	b := newBlend(e.opts.Blend)
	if len(next.Body) > 0 {
		var err error
		if b, err = decodeBlend(next.Body); err != nil {
			return Report{}, fmt.Errorf("%w: %w", ErrIncompatible, err)
		}
		if err := e.judge(ctx, b, window[len(window)-1]); err != nil {
			return Report{}, err
		}
	}
	var report Report
	for k, component := range e.components {
		recent := window[max(0, len(window)-component.opts.WindowTimesteps):]
		c, r, err := component.Train(ctx, next.Shard, b.models[k], recent)
		if err != nil {
			return report, fmt.Errorf("component %s: %w", component.opts.Model, err)
		}
		b.models[k] = c
		report.Slices = max(report.Slices, r.Slices)
		report.Steps += r.Steps
		report.FirstLoss += r.FirstLoss / float64(len(e.components))
		report.FinalLoss += r.FinalLoss / float64(len(e.components))
	}
	next.Body = b.encode()
	return report, nil
}

// judge adds the components' log-losses on a slice that they have not seen.
func (e *Engine) judge(ctx context.Context, b *blend, s *lethe.Slice) error {
	if s.Labelled() == 0 {
		return nil
	}
	in := Input{Rows: len(s.Nodes), Cols: s.FeatureCount, Features: s.Features, Edges: s.Edges}
	for k, c := range b.models {
		p, err := e.Probabilities(ctx, c, in)
		if err != nil {
			return err
		}
		for i, label := range s.Labels {
			if label != lethe.Unknown {
				b.losses[k] -= logProbability(p[i*e.opts.Classes+int(label)-1])
			}
		}
	}
	return nil
}

// logProbability bounds what one certain and wrong answer can cost.
func logProbability(p float32) float64 {
	return portable.Log(max(float64(p), 1e-7))
}

// blendProbabilities combines the answers of a blend's components.
func (e *Engine) blendProbabilities(ctx context.Context, c *Checkpoint, in Input) ([]float32, error) {
	b, err := decodeBlend(c.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIncompatible, err)
	}
	var logarithms []float64
	for k, w := range b.weights() {
		p, err := e.Probabilities(ctx, b.models[k], in)
		if err != nil {
			return nil, err
		}
		if logarithms == nil {
			logarithms = make([]float64, len(p))
		}
		for i, v := range p {
			logarithms[i] += float64(w * logProbability(v))
		}
	}
	out := make([]float32, 0, len(logarithms))
	classes := 0
	if in.Rows > 0 {
		classes = len(logarithms) / in.Rows
	}
	for from := 0; from < len(logarithms); from += classes {
		row := logarithms[from : from+classes]
		portable.Softmax(row)
		for _, v := range row {
			out = append(out, float32(v))
		}
	}
	return out, nil
}

// blend is the state of a blend after a slice.
type blend struct {
	rate float64
	// models and losses belong to one component each. Models are nil before the
	// first slice.
	models []*Checkpoint
	losses []float64
}

func newBlend(o BlendOptions) *blend {
	n := len(o.Components)
	return &blend{rate: o.Rate, models: make([]*Checkpoint, n), losses: make([]float64, n)}
}

// weights add up to 1.
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

// decodeBlend reads what encode wrote. The error wraps canonical.ErrCorrupt or
// canonical.ErrVersion.
func decodeBlend(message []byte) (*blend, error) {
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
		c, err := DecodeCheckpoint(body)
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

// shape returns what the components take and give, which must not differ.
func (b *blend) shape() (features, classes int, err error) {
	for _, c := range b.models {
		f, n, err := c.shape()
		switch {
		case err != nil:
			return 0, 0, err
		case f == 0:
			continue
		case features != 0 && (f != features || n != classes):
			return 0, 0, fmt.Errorf("%w: components of %d and %d features, %d and %d classes", canonical.ErrCorrupt, features, f, classes, n)
		}
		features, classes = f, n
	}
	return features, classes, nil
}
