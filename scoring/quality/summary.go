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
	called := make([]bool, len(probabilities))
	for i, p := range probabilities {
		called[i] = p >= threshold
	}
	return SummariseServed(probabilities, called, labels)
}

// SummariseServed is Summarise by the class that was served: called holds whether each sample was
// classified as illicit.
func SummariseServed(probabilities []float64, called []bool, labels []lethe.Label) Summary {
	if len(probabilities) != len(labels) || len(called) != len(labels) {
		panic("quality: number of probabilities and of labels differ")
	}
	scores := make([]float64, 0, len(labels))
	positive := make([]bool, 0, len(labels))
	var right, wrong struct{ illicit, licit int } // by the true class
	for i, label := range labels {
		switch {
		case label == lethe.Illicit && called[i]:
			right.illicit++
		case label == lethe.Illicit:
			wrong.illicit++
		case label == lethe.Licit && called[i]:
			wrong.licit++
		case label == lethe.Licit:
			right.licit++
		default:
			continue
		}
		scores = append(scores, probabilities[i])
		positive = append(positive, label == lethe.Illicit)
	}
	mistakes := wrong.illicit + wrong.licit
	out := Summary{
		Accuracy:  ratio(right.illicit+right.licit, len(scores)),
		IllicitF1: ratio(2*right.illicit, 2*right.illicit+mistakes),
		Precision: ratio(right.illicit, right.illicit+wrong.licit),
		Recall:    ratio(right.illicit, right.illicit+wrong.illicit),
		Labelled:  len(scores),
		Illicit:   right.illicit + wrong.illicit,
	}
	classes := 2.0
	if mistakes == 0 && (right.illicit == 0 || right.licit == 0) {
		classes = 1 // only one occurs
	}
	out.MacroF1 = (out.IllicitF1 + ratio(2*right.licit, 2*right.licit+mistakes)) / classes
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
