package protocol

import "lethe/trainer"

// ExpectedSteps is how many optimiser steps RunGraph will take, for a progress
// line; shards without a labelled node take fewer.
func (s Settings) ExpectedSteps() int { return s.Shards * s.Epochs }

// ExpectedSteps is how many optimiser steps and fits of models that are no networks
// RunStream will take at most.
func (s StreamSettings) ExpectedSteps() int {
	slices, trainings := s.Split.Train, 1
	if s.Schedule != Static {
		window := s.WindowTimesteps
		if s.Model == trainer.Blend {
			window = trainer.DefaultsOf(trainer.Blend).Blend.NetworkTimesteps
		}
		slices, trainings = 0, 0
		for i := s.firstLearnt(); i < s.Split.Total()-1; i++ {
			slices += min(i+1, window)
			trainings++
		}
	}
	steps := s.networks() * s.Epochs * slices
	if s.rowModel() || s.Model == trainer.Blend {
		steps += trainings
	}
	return s.Shards * steps
}
