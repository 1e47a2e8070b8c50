package trees

// Config configures a fit. Start from Defaults.
type Config struct {
	// Classes is the number of classes.
	Classes int `yaml:"-"`
	// Rounds is the number of trees to add, per class if there are more than two.
	Rounds int `yaml:"-"`
	// UpdateRounds is the number of rounds that Update adds, MaxRounds the number that it retains.
	UpdateRounds, MaxRounds int `yaml:"-"`
	// LearningRate shrinks every tree.
	LearningRate float64 `yaml:"-"`
	// MaxLeaves bounds the leaves of a tree, which grows where the gain is highest.
	MaxLeaves int `yaml:"-"`
	// MinChildRows is the least number of rows in a leaf.
	MinChildRows int `yaml:"-"`
	// MinChildWeight is the minimum sum of second derivatives in a leaf.
	MinChildWeight float64 `yaml:"-"`
	// L2 is λ, which is added to every sum of second derivatives.
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
	// Seed is the key of the draws of rows and features. The caller must include the shard in it.
	Seed uint64 `yaml:"-"`
}

// Defaults returns the configuration for two classes. It has 64 bins: on slices of the size of
// Bitcoin-OTC more bins took longer and were no better.
func Defaults() Config {
	return Config{
		Classes: 2, Rounds: 100, UpdateRounds: 10, MaxRounds: 1000, LearningRate: 0.1, MaxLeaves: 31,
		MinChildRows: 20, MinChildWeight: 1e-3, MaxBins: 64, RowShare: 1, FeatureShare: 1,
	}
}
