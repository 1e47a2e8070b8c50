package attack

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
)

// Options says what to attack.
type Options struct {
	// Stream holds the data. Its timesteps alternate between the attacked
	// deployment and the attacker's shadow, which are so disjoint.
	Stream *dataset.Stream
	// Config is the attacked deployment. Its data directory must be empty and is
	// used for one deployment per scope; the broker is the embedded one.
	Config configs.Config
	// Scopes are attacked one after the other, each on a deployment of its own.
	// Default: stubs and shard.
	Scopes []lethe.Scope
	// Targets is the number of members, and of outsiders. Default: 150, or as
	// many as the stream has if those are fewer.
	Targets int
	// Requests is over how many erasures, one after the other, the members are
	// spread. The fewer a request names, the more its two versions tell of them.
	// Default: 5, or one per 20 targets if those are fewer.
	Requests int
	// Mislabel sends the members with wrong labels: the worst case, for a model
	// can only know them by heart.
	Mislabel bool
	// Seed keys the choice of targets and all attackers; Config.Seed keys lethe.
	Seed uint64
	// OverfitPasses is how often the overfitted control goes through its data,
	// default 60.
	OverfitPasses int
	// Version names the program on receipts; "dev" if empty.
	Version string
	// Progress hears, in words, how far the work is. nil is silence.
	Progress func(format string, args ...any)
	Logger   *slog.Logger
}

const (
	defaultTargets  = 150
	minTargets      = 20
	defaultRequests = 5
	// targetShare is the share of labelled transactions that may become members,
	// and again outsiders: the others are what is left to learn from.
	targetShare = .25
	// EnoughTimesteps is how many a run should be given unless there is a reason
	// for others: on many more, the control that knows its data by heart has too
	// many to learn, and the attacks lose their power.
	EnoughTimesteps = 12
	// minTimesteps gives deployment and shadow one timestep to learn from and
	// one to follow.
	minTimesteps = 4
	// maxErasureNodes is what one request may name, see ingest.Limits.
	maxErasureNodes = 1000
)

// Clone returns a copy that shares no list with the original. The stream is
// shared: nothing here changes it.
func (o Options) Clone() Options {
	o.Scopes = slices.Clone(o.Scopes)
	return o
}

// EnsureDefaults returns a copy with every unset field filled in.
func (o Options) EnsureDefaults() Options {
	o = o.Clone()
	if len(o.Scopes) == 0 {
		o.Scopes = []lethe.Scope{lethe.ScopeStubs, lethe.ScopeShard}
	}
	if o.Targets == 0 && o.Stream != nil {
		o.Targets = min(defaultTargets, maxTargets(o.Stream))
	}
	if o.Requests == 0 {
		o.Requests = max(1, min(defaultRequests, o.Targets/minTargets))
	}
	if o.OverfitPasses == 0 {
		o.OverfitPasses = 60
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Validate reports everything that is wrong with defaulted options.
func (o Options) Validate() error {
	var problems []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	if o.Stream == nil {
		return errors.New("there is no stream to attack")
	}
	most := maxTargets(o.Stream)
	refuse(len(o.Stream.Steps) < minTimesteps, "the stream has %d timesteps, want at least %d", len(o.Stream.Steps),
		minTimesteps)
	refuse(most < minTargets, "the stream has labels for %d targets, want at least %d", most, minTargets)
	refuse(most >= minTargets && (o.Targets < minTargets || o.Targets > most), "targets is %d, want %d to %d", o.Targets,
		minTargets, most)
	refuse(o.Requests < 1 || o.Requests > o.Targets, "requests is %d, want 1 to the number of targets, %d", o.Requests,
		o.Targets)
	refuse(o.OverfitPasses < 1, "overfit passes is %d, want at least 1", o.OverfitPasses)
	refuse(!o.Config.UsesEmbeddedBroker(), "brokers are named, but an attack brings its own")
	for _, s := range o.Scopes {
		refuse(s != lethe.ScopeStubs && s != lethe.ScopeShard, "scope %q is neither %s nor %s", s, lethe.ScopeStubs,
			lethe.ScopeShard)
	}
	if err := o.Config.Validate(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// maxTargets is the largest number of targets of one kind that both halves of
// the stream can give.
func maxTargets(s *dataset.Stream) int {
	var labelled [2]int
	for i := range s.Steps {
		labelled[i%2] += len(s.Steps[i].Labels)
	}
	return min(int(targetShare*float64(min(labelled[0], labelled[1]))), maxErasureNodes)
}
