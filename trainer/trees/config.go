package trees

// The kinds of ensembles.
const (
	// Boosted trees correct one another (Friedman 2001). An empty kind means the same.
	Boosted = "boosted"
	// Forest is a random forest (Breiman, "Random Forests", 2001): trees grown independently, each
	// on a sample of rows, and averaged.
	Forest = "forest"
	// Extra is a forest of extremely randomised trees (Geurts, Ernst and Wehenkel, 2006), which
	// tries one random threshold per feature.
	Extra = "extra"
)

// Config configures a fit. Start from Defaults.
type Config struct {
	// Kind is Boosted, Forest or Extra; empty means Boosted.
	Kind string `yaml:"-"`
	// Classes is the number of classes.
	Classes int `yaml:"-"`
	// Rounds is the number of trees to add, per class if there are more than two.
	Rounds int `yaml:"-"`
	// UpdateRounds is the number of rounds that Update adds, MaxRounds the number that it retains.
	UpdateRounds, MaxRounds int `yaml:"-"`
	// LearningRate shrinks every boosted tree. Forests ignore it.
	LearningRate float64 `yaml:"-"`
	// MaxLeaves bounds the leaves of a tree, which grows where the gain is highest.
	MaxLeaves int `yaml:"-"`
	// MaxDepth bounds the splits between root and leaf; 0 means no bound.
	MaxDepth int `yaml:"-"`
	// MinChildRows is the least number of rows in a leaf.
	MinChildRows int `yaml:"-"`
	// MinChildWeight is the minimum sum of second derivatives in a leaf. In forests a row's second
	// derivative is its weight.
	MinChildWeight float64 `yaml:"-"`
	// MinGain is the gain that a split must exceed, in units of twice the loss: G²/(H+λ) of both
	// sides minus that of the whole.
	MinGain float64 `yaml:"-"`
	// L2 is λ, which is added to every sum of second derivatives. Forests use 0.
	L2 float64 `yaml:"-"`
	// MaxBins bounds the bins of a feature, 2 to 256, including the bin of missing values.
	MaxBins int `yaml:"-"`
	// RowShare is the share of rows in a round, above 0 and at most 1. Whether a row is included
	// depends only on the seed, the round and the row's key, so removing a row changes no other
	// row's draw.
	RowShare float64 `yaml:"-"`
	// FeatureShare is the share of features that a tree may split on, drawn for each tree, above 0
	// and at most 1.
	FeatureShare float64 `yaml:"-"`
	// SplitShare is the share of those that a split may choose from, drawn for each leaf, above 0
	// and at most 1.
	SplitShare float64 `yaml:"-"`
	// PositiveWeight multiplies the weight of every row of class 1 if there are two classes. With
	// more classes it must be 1.
	PositiveWeight float64 `yaml:"-"`
	// Monotone holds a number per feature: with 1 the probability of class 1 never falls as the
	// feature rises, with -1 it never rises, with 0 it is unconstrained. Features beyond its end
	// have 0. It requires two classes.
	Monotone []int8 `yaml:"-"`
	// Seed is the key of the draws of rows, features and thresholds. The caller must include the
	// shard in it.
	Seed uint64 `yaml:"-"`
}

// Defaults returns the configuration of boosted trees for two classes. It has 64 bins: on slices
// of the size of Bitcoin-OTC more bins took longer and were no better.
func Defaults() Config {
	return Config{
		Kind: Boosted, Classes: 2, Rounds: 100, UpdateRounds: 10, MaxRounds: 1000, LearningRate: 0.1, MaxLeaves: 31,
		MinChildRows: 20, MinChildWeight: 1e-3, MaxBins: 64, RowShare: 1, FeatureShare: 1, SplitShare: 1,
		PositiveWeight: 1,
	}
}

// boosts reports whether trees correct one another.
func (c Config) boosts() bool { return c.Kind == Boosted || c.Kind == "" }

// monotone returns the constraint of a feature.
func (c *Config) monotone(feature int) int8 {
	if feature < len(c.Monotone) {
		return c.Monotone[feature]
	}
	return 0
}

// constrained reports whether any feature is constrained.
func (c *Config) constrained() bool {
	for _, m := range c.Monotone {
		if m != 0 {
			return true
		}
	}
	return false
}
