package measures

import (
	"fmt"

	"lethe/scoring/quality"
)

// NoClass means that the label is unknown.
const NoClass = -1

// MostLikely returns the class of largest probability per row of classes probabilities, the lowest
// among equals. It panics if the posteriors are not whole rows.
func MostLikely(posteriors []float32, classes int) []int {
	if classes < 1 || len(posteriors)%classes != 0 {
		panic("measures: posteriors are not rows of one probability per class")
	}
	out := make([]int, len(posteriors)/classes)
	for i := range out {
		row := posteriors[i*classes:][:classes]
		for c, p := range row {
			if p > row[out[i]] {
				out[i] = c
			}
		}
	}
	return out
}

// SummarisePosteriors measures rows of classes probabilities against the true classes; rows of
// NoClass are left out. It is SummariseClasses of the most likely classes, with AUC and average
// precision as means of one class against the rest, over the classes that have both positive and
// negative rows. It returns an error if the lengths do not match or a class is out of range.
func SummarisePosteriors(posteriors []float32, classes int, truth []int) (quality.Summary, error) {
	if classes < 2 || len(posteriors) != len(truth)*classes {
		return quality.Summary{}, fmt.Errorf("%d posteriors for %d samples of %d classes", len(posteriors),
			len(truth), classes)
	}
	var rows []float32
	var labels []int
	for i, class := range truth {
		if class != NoClass {
			rows = append(rows, posteriors[i*classes:][:classes]...)
			labels = append(labels, class)
		}
	}
	c, err := NewConfusion(labels, MostLikely(rows, classes), classes)
	if err != nil {
		return quality.Summary{}, err
	}
	out := SummariseClasses(c)
	var aucs, aps, ranked float64
	scores, positive := make([]float64, len(labels)), make([]bool, len(labels))
	for class := range classes {
		for i, label := range labels {
			scores[i], positive[i] = float64(rows[i*classes+class]), label == class
		}
		auc, ok := quality.AUC(scores, positive)
		if !ok {
			continue
		}
		ap, _ := quality.AveragePrecision(scores, positive)
		aucs, aps, ranked = aucs+auc, aps+ap, ranked+1
	}
	if ranked > 0 {
		aucs, aps = aucs/ranked, aps/ranked
		out.AUC, out.AveragePrecision = &aucs, &aps
	}
	return out, nil
}

// SummariseClasses is the Summary of a data set whose classes are not licit and illicit, such as a
// citation graph: precision and recall are means over the classes that occur, and the measures of
// the illicit class stay empty.
func SummariseClasses(c Confusion) quality.Summary {
	return quality.Summary{
		Accuracy:  c.Accuracy(),
		MacroF1:   c.MacroF1Present(),
		Precision: c.meanPresent(c.Precision),
		Recall:    c.meanPresent(c.Recall),
		Labelled:  c.Total(),
	}
}
