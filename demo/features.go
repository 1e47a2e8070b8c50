package demo

import (
	"fmt"
	"math"

	"lethe"
	"lethe/dataset"
)

// checkFeatures rejects a stream whose records would become dead letters: the demo would wait for
// their timesteps forever.
func checkFeatures(stream *dataset.Stream, most float64) error {
	largest := 0.0
	for _, step := range stream.Steps {
		for _, tx := range step.Transactions {
			for _, f := range tx.Features {
				if !lethe.IsMissing(f) {
					largest = math.Max(largest, math.Abs(float64(f)))
				}
			}
		}
	}
	if largest > most {
		return fmt.Errorf("the dataset has features of up to ±%g, and ingest.max_magnitude is %g: scale them, leave "+
			"missing ones empty, or set the bound with --set ingest.max_magnitude=N", largest, most)
	}
	return nil
}
