package measures

import "fmt"

// Confusion counts predictions per true and predicted class: row i, column j holds the samples of
// class i that were predicted as class j. Every measure is 0 if its denominator is 0, as in
// scikit-learn.
type Confusion [][]int

// NewConfusion counts the samples. truth and predicted have equal lengths and
// hold classes from 0 to classes-1; it returns an error otherwise.
func NewConfusion(truth, predicted []int, classes int) (Confusion, error) {
	if len(truth) != len(predicted) {
		return nil, fmt.Errorf("%d true and %d predicted classes", len(truth), len(predicted))
	}
	if classes < 1 {
		return nil, fmt.Errorf("%d classes, want at least 1", classes)
	}
	c := make(Confusion, classes)
	for i := range c {
		c[i] = make([]int, classes)
	}
	for i, y := range truth {
		if y < 0 || y >= classes || predicted[i] < 0 || predicted[i] >= classes {
			return nil, fmt.Errorf("sample %d has class %d and was taken for %d, want 0 to %d", i, y, predicted[i], classes-1)
		}
		c[y][predicted[i]]++
	}
	return c, nil
}

// Support counts the samples of a class.
func (c Confusion) Support(class int) int {
	n := 0
	for _, count := range c[class] {
		n += count
	}
	return n
}

// claimed counts the samples that were predicted as a class.
func (c Confusion) claimed(class int) int {
	n := 0
	for _, row := range c {
		n += row[class]
	}
	return n
}

// Total counts all samples.
func (c Confusion) Total() int {
	n := 0
	for class := range c {
		n += c.Support(class)
	}
	return n
}

// Accuracy is the share of samples whose class was predicted correctly.
func (c Confusion) Accuracy() float64 {
	right := 0
	for class := range c {
		right += c[class][class]
	}
	return ratio(right, c.Total())
}

// Precision is the share of samples predicted as a class that belong to it.
func (c Confusion) Precision(class int) float64 {
	return ratio(c[class][class], c.claimed(class))
}

// Recall is the share of samples of a class that were predicted as it.
func (c Confusion) Recall(class int) float64 {
	return ratio(c[class][class], c.Support(class))
}

// F1 is the harmonic mean of precision and recall of a class.
func (c Confusion) F1(class int) float64 {
	return ratio(2*c[class][class], c.Support(class)+c.claimed(class))
}

// MacroF1Present is the mean F1 over the classes that occur, as a truth or as a
// prediction. It is scikit-learn's default.
func (c Confusion) MacroF1Present() float64 { return c.meanPresent(c.F1) }

// meanPresent averages a measure over the classes that occur.
func (c Confusion) meanPresent(measure func(class int) float64) float64 {
	sum, present := 0.0, 0
	for class := range c {
		if c.Support(class)+c.claimed(class) > 0 {
			sum += measure(class)
			present++
		}
	}
	if present == 0 {
		return 0
	}
	return sum / float64(present)
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
