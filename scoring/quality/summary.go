package quality

import "lethe"

// Summary is the quality of predictions on labelled samples. Measures that are pointers are nil,
// null in JSON, if they are undefined; the other measures are 0 if their denominator is 0, so read
// Labelled first.
type Summary struct {
	Accuracy float64 `json:"accuracy"`
	// MacroF1 is the mean over the classes that occur as a truth or as a
	// prediction.
	MacroF1          float64  `json:"macro_f1"`
	AUC              *float64 `json:"auc"`
	AveragePrecision *float64 `json:"average_precision"`
	IllicitF1        float64  `json:"illicit_f1"`
	// Precision and Recall are those of the illicit class.
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	// Labelled counts the samples, Illicit those of them that are illicit.
	Labelled int `json:"labelled"`
	Illicit  int `json:"illicit"`
	// ExpectedCalibrationError is CalibrationError of the probabilities of illicit.
	ExpectedCalibrationError *float64 `json:"expected_calibration_error"`
	// BestF1 is IllicitF1 at the threshold that is best in hindsight, BestThreshold.
	BestF1        *float64 `json:"best_f1"`
	BestThreshold *float64 `json:"best_threshold"`
}

// Summarise measures probabilities of illicit against labels, classifying as illicit from threshold
// on. Unknown samples are left out. It panics if the lengths differ.
func Summarise(probabilities []float64, labels []lethe.Label, threshold float64) Summary {
	return summarise(probabilities, labels, func(i int) bool { return probabilities[i] >= threshold })
}

// summarise is Summarise with the class of every sample.
func summarise(probabilities []float64, labels []lethe.Label, called func(i int) bool) Summary {
	if len(probabilities) != len(labels) {
		panic("quality: number of probabilities and of labels differ")
	}
	const licit, illicit = 0, 1
	scores := make([]float64, 0, len(labels))
	positive := make([]bool, 0, len(labels))
	c := Confusion{make([]int, 2), make([]int, 2)}
	for i, label := range labels {
		truth, predicted := licit, licit
		switch label {
		case lethe.Illicit:
			truth = illicit
		case lethe.Licit:
		default:
			continue
		}
		if called(i) {
			predicted = illicit
		}
		c[truth][predicted]++
		scores = append(scores, probabilities[i])
		positive = append(positive, truth == illicit)
	}
	out := Summary{
		Accuracy:  c.Accuracy(),
		MacroF1:   c.MacroF1Present(),
		IllicitF1: c.F1(illicit),
		Precision: c.Precision(illicit),
		Recall:    c.Recall(illicit),
		Labelled:  c.Total(),
		Illicit:   c.Support(illicit),
	}
	if auc, ok := AUC(scores, positive); ok {
		out.AUC = &auc
	}
	if ap, ok := AveragePrecision(scores, positive); ok {
		out.AveragePrecision = &ap
	}
	if expected, ok := CalibrationError(scores, positive); ok {
		out.ExpectedCalibrationError = &expected
	}
	if f1, threshold, ok := BestF1(scores, positive); ok {
		out.BestF1, out.BestThreshold = &f1, &threshold
	}
	return out
}

// SummariseClasses is the Summary of a data set whose classes are not licit and illicit, such as a
// citation graph: precision and recall are means over the classes that occur, and the measures of
// the illicit class stay empty.
func SummariseClasses(c Confusion) Summary {
	return Summary{
		Accuracy:  c.Accuracy(),
		MacroF1:   c.MacroF1Present(),
		Precision: c.meanPresent(c.Precision),
		Recall:    c.meanPresent(c.Recall),
		Labelled:  c.Total(),
	}
}
