package trees

// The kinds of ensembles.
const (
	// Boosted trees correct one another (Friedman 2001). The empty kind means the
	// same.
	Boosted = "boosted"
	// Forest is a random forest (Breiman, "Random Forests", 2001): trees that are
	// grown apart, each on rows of its own, and averaged.
	Forest = "forest"
	// Extra is a forest of extremely randomised trees (Geurts, Ernst and Wehenkel,
	// 2006), which tries one random threshold per feature.
	Extra = "extra"
)

// Config shapes a fit. Take it from Defaults or ForestDefaults.
type Config struct {
	// Kind is Boosted, Forest or Extra; empty means Boosted.
	Kind string `yaml:"-"`
	// Classes is the number of classes.
	Classes int `yaml:"-"`
	// Rounds is how many trees are added, per class if there are more than two.
	Rounds int `yaml:"-"`
	// UpdateRounds is how many rounds Update adds, and MaxRounds how many it
	// leaves.
	UpdateRounds, MaxRounds int `yaml:"-"`
	// LearningRate shrinks every boosted tree. Forests have no use for it.
	LearningRate float64 `yaml:"-"`
	// MaxLeaves bounds the leaves of a tree, which grows where the gain is
	// highest.
	MaxLeaves int `yaml:"-"`
	// MaxDepth bounds the splits between root and leaf; 0 means no bound.
	MaxDepth int `yaml:"-"`
	// MinChildRows is the least number of rows in a leaf.
	MinChildRows int `yaml:"-"`
	// MinChildWeight is the least sum of second derivatives in a leaf. In forests a
	// row's second derivative is its weight.
	MinChildWeight float64 `yaml:"-"`
	// MinGain is what a split must gain more than, in units of twice the loss:
	// G²/(H+λ) of both sides less that of the whole.
	MinGain float64 `yaml:"-"`
	// L2 is λ, which is added to every sum of second derivatives. Forests take 0.
	L2 float64 `yaml:"-"`
	// MaxBins bounds the bins of a feature, 2 to 256. Where rows miss the feature,
	// one of them is theirs.
	MaxBins int `yaml:"-"`
	// RowShare is the share of rows that a round looks at, above 0 and at most 1.
	// Whether a row is among them depends on the seed, the round and the row's key
	// alone, so that no other row's draw changes when it goes.
	RowShare float64 `yaml:"-"`
	// FeatureShare is the share of features that a tree may split on, drawn
	// anew for each, above 0 and at most 1.
	FeatureShare float64 `yaml:"-"`
	// SplitShare is the share of those that a split may choose from, drawn anew for
	// each leaf, above 0 and at most 1.
	SplitShare float64 `yaml:"-"`
	// PositiveWeight multiplies the weight of every row of class 1, of two classes.
	// With more classes it is 1.
	PositiveWeight float64 `yaml:"-"`
	// Monotone holds a number per feature: with 1 the probability of class 1 never
	// falls where the feature rises, with -1 it never rises, with 0 it may do
	// either. Features beyond its end have 0. It needs two classes.
	Monotone []int8 `yaml:"-"`
	// Seed keys the draws of rows, features and thresholds. The caller puts the
	// shard into it.
	Seed uint64 `yaml:"-"`
}

// Defaults returns the configuration of boosted trees for two classes. It has 64
// bins: on slices of the size of Bitcoin-OTC more took longer and were no better.
func Defaults() Config {
	return Config{
		Kind: Boosted, Classes: 2, Rounds: 100, UpdateRounds: 10, MaxRounds: 1000, LearningRate: 0.1, MaxLeaves: 31,
		MinChildRows: 20, MinChildWeight: 1e-3, MaxBins: 64, RowShare: 1, FeatureShare: 1, SplitShare: 1,
		PositiveWeight: 1,
	}
}

// ForestDefaults returns the configuration of a Forest or of Extra trees for a
// number of features: a hundred trees as deep as the rows allow, splits that choose
// from the square root of the features. A tree of a Forest sees 63.2 % of the
// rows, as many as a bootstrap sample of all rows has different ones; Extra trees
// see all, as their authors have it.
func ForestDefaults(kind string, features int) Config {
	c := Defaults()
	c.Kind, c.LearningRate, c.MaxLeaves, c.MinChildRows = kind, 1, 1<<16, 1
	c.SplitShare = rootShare(features)
	if kind == Forest {
		c.RowShare = 0.632
	}
	return c
}

// boosts reports whether trees correct one another.
func (c Config) boosts() bool { return c.Kind == Boosted || c.Kind == "" }

// monotone is the direction that a feature is held to.
func (c *Config) monotone(feature int) int8 {
	if feature < len(c.Monotone) {
		return c.Monotone[feature]
	}
	return 0
}

// constrained reports whether any feature is held to a direction.
func (c *Config) constrained() bool {
	for _, m := range c.Monotone {
		if m != 0 {
			return true
		}
	}
	return false
}
