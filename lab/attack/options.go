package attack

import (
	"log/slog"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/internal/check"
)

// Options says what to attack; begin with Defaults.
type Options struct {
	// Stream holds the data. Its timesteps alternate between the attacked
	// deployment and the attacker's shadow, which are so disjoint.
	Stream *dataset.Stream
	// Config is the attacked deployment. Its data directory must be empty and is
	// used for one deployment per scope; the broker is the embedded one.
	Config configs.Config
	// Scopes are attacked one after the other, each on a deployment of its own.
	Scopes []lethe.Scope
	// Targets is the number of members, and of outsiders. By default 150, or as
	// many as the stream has if those are fewer.
	Targets int
	// Requests is over how many erasures, one after the other, the members are
	// spread. The fewer a request names, the more its two versions tell of them.
	// RequestsFor is how many to take.
	Requests int
	// Mislabel sends the members with wrong labels: the worst case, for a model
	// can only have memorised them.
	Mislabel bool
	// Seed keys the choice of targets and all attackers; Config.Seed keys lethe.
	Seed uint64
	// OverfitPasses is how often the overfitted control goes through its data.
	OverfitPasses int
	// Version names the program on receipts.
	Version string
	// Progress is called with how far the work is, in words.
	Progress func(format string, args ...any)
	Logger   *slog.Logger
}

const (
	// MostTargets is the number of targets where the data has enough labels.
	MostTargets = 150
	// MostRequests is the number of requests among which they are divided then.
	MostRequests = 5
	minTargets   = 20
	// targetShare is the share of labelled transactions that may become members,
	// and again outsiders: the others are what is left to learn from.
	targetShare = .25
	// EnoughTimesteps is how many a run should be given unless there is a reason
	// for others: on many more, the control that memorises its data has too
	// many to learn, and the attacks lose their power.
	EnoughTimesteps = 12
	// MinTimesteps gives deployment and shadow one timestep to learn from and
	// one to follow.
	MinTimesteps = 4
	// maxErasureNodes is what one request may name, see ingest.Limits.
	maxErasureNodes = 1000
)

// Defaults attack a deployment on a stream at the scopes stubs and shard, in
// silence.
func Defaults(stream *dataset.Stream, config configs.Config) Options {
	targets := min(MostTargets, maxTargets(stream))
	return Options{
		Stream: stream, Config: config, Scopes: []lethe.Scope{lethe.ScopeStubs, lethe.ScopeShard},
		Targets: targets, Requests: RequestsFor(targets), OverfitPasses: 60, Version: "dev",
		Progress: func(string, ...any) {}, Logger: slog.New(slog.DiscardHandler),
	}
}

// RequestsFor is five requests, or one per 20 targets if those are fewer.
func RequestsFor(targets int) int { return max(1, min(MostRequests, targets/minTargets)) }

// Validate reports everything that is wrong with the options.
func (o Options) Validate() error {
	var p check.Problems
	o.checkTargets(&p)
	p.AtLeast("overfit_passes", o.OverfitPasses, 1)
	p.That(o.Config.UsesEmbeddedBroker(), "kafka.brokers", o.Config.Kafka.Brokers, "none: an attack brings its own")
	p.That(o.Config.Trainer.Model != configs.Stack, "trainer.model", o.Config.Trainer.Model, "one model per shard")
	p.That(len(o.Scopes) > 0, "scopes", o.Scopes, "at least one")
	for _, s := range o.Scopes {
		p.OneOf("scopes", string(s), lethe.SupportedScopes()...)
	}
	return append(p, check.Of(o.Config.Validate())...).Err()
}

// checkTargets reports the first of timesteps, labels, targets and requests that
// is wrong: the bound of each follows from those before it.
func (o Options) checkTargets(p *check.Problems) {
	most, labels := maxTargets(o.Stream), fewestLabels(o.Stream)
	switch {
	case len(o.Stream.Steps) < MinTimesteps:
		p.AtLeast("number of timesteps", len(o.Stream.Steps), MinTimesteps)
	case most < minTargets:
		p.Bad("number of labels in every second timestep", labels, "at least %d: take more timesteps or other data",
			int(minTargets/targetShare))
	case o.Targets < minTargets || o.Targets > most:
		p.Whole("targets", o.Targets, minTargets, most)
	default:
		p.Whole("requests", o.Requests, 1, o.Targets)
	}
}

// maxTargets is the largest number of targets of one kind that both halves of
// the stream can give.
func maxTargets(s *dataset.Stream) int {
	return min(int(targetShare*float64(fewestLabels(s))), maxErasureNodes)
}

// fewestLabels counts the labels of the half of the stream that has fewer.
func fewestLabels(s *dataset.Stream) int {
	var labelled [2]int
	for i := range s.Steps {
		labelled[i%2] += len(s.Steps[i].Labels)
	}
	return min(labelled[0], labelled[1])
}
