package measures

// MacroF1 is the mean F1 over all classes, those that never occur included.
func (c Confusion) MacroF1() float64 {
	sum := 0.0
	for class := range c {
		sum += c.F1(class)
	}
	return sum / float64(len(c))
}
