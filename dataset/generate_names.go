package dataset

import (
	"fmt"
	"math"
)

// factorNames are the names of the latent factors in feature names.
func factorNames() [factors]string {
	return [factors]string{"amount", "fee", "account age", "velocity", "hour", "distance", "device", "balance"}
}

// aggregateNames are the aggregations in the order of summarise.
func aggregateNames() [aggregations]string {
	return [aggregations]string{"mean", "maximum", "minimum", "spread"}
}

// names returns a unique name for each feature: the two degrees, then each local feature by the factor with the
// largest loading, then each aggregate by the feature that it summarises.
func (m *featureModel) names() []string {
	var out []string
	numbers := make(map[string]int)
	for j := range m.locals {
		out = append(out, m.locals[j].name(j, numbers))
	}
	local, times := out, make(map[string]int)
	for _, a := range m.aggregates {
		name := fmt.Sprintf("%s of neighbours' %s", aggregateNames()[a.op], local[a.source])
		if times[name]++; times[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, times[name])
		}
		out = append(out, name)
	}
	return out
}

// name is that of local feature j; numbers counts the names of each factor.
func (l *localFeature) name(j int, numbers map[string]int) string {
	if j < degreeFeatures {
		return [degreeFeatures]string{"payments received", "payments made"}[j]
	}
	factor, largest := "noise", 0.0
	for f, loading := range l.loading {
		if math.Abs(loading) > largest {
			factor, largest = factorNames()[f], math.Abs(loading)
		}
	}
	numbers[factor]++
	return fmt.Sprintf("%s %d", factor, numbers[factor])
}
