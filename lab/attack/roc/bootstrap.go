package roc

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"lethe"
	"lethe/scoring/quality"
)

// Sample is one scored sample. Samples of one cluster, such as the pairs that
// share a node, depend on each other.
type Sample struct {
	Score    float64
	Positive bool
	Cluster  int
}

// resamples is the number of bootstrap samples; the standard error of a
// standard error is then 2 %.
const resamples = 1000

// Bootstrap returns the area under the ROC curve with its standard error by the
// cluster bootstrap (Field and Welsh, "Bootstrapping clustered data", JRSSB
// 2007): whole clusters are drawn, so that dependence within them counts.
// Resamples of one kind only are drawn again. Clusters are numbered from 0.
func Bootstrap(samples []Sample, seed uint64) (Estimate, error) {
	var clusters [][]Sample
	for _, s := range samples {
		for len(clusters) <= s.Cluster {
			clusters = append(clusters, nil)
		}
		clusters[s.Cluster] = append(clusters[s.Cluster], s)
	}
	auc, ok := area(samples)
	if !ok {
		return Estimate{}, fmt.Errorf("%w: %d samples", ErrOneKind, len(samples))
	}
	areas := make([]float64, 0, resamples)
	for r := uint64(0); len(areas) < resamples; r++ {
		draw := lethe.NewDraw(seed, "cluster-bootstrap", r)
		var drawn []Sample
		for range clusters {
			drawn = append(drawn, clusters[draw.IntN(len(clusters))]...)
		}
		if a, ok := area(drawn); ok {
			areas = append(areas, a)
		}
	}
	return Estimate{AUC: auc, StandardError: stat.StdDev(areas, nil)}, nil
}

// area is the area under the curve of samples.
func area(samples []Sample) (float64, bool) {
	scores, positive := make([]float64, len(samples)), make([]bool, len(samples))
	for i, s := range samples {
		scores[i], positive[i] = s.Score, s.Positive
	}
	return quality.AUC(scores, positive)
}
