package embedded

// Due is due, by bytes of the whole log and of erasures.v1.
func Due(all, erasures, leftAll, leftErasures, from int64, quiet bool) bool {
	return due(logSize{all: all, erasures: erasures}, logSize{all: leftAll, erasures: leftErasures}, from, quiet)
}
