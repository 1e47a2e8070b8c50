package floatbytes

// Turned are Append and AppendValues as machines have them that are not little-endian.
func Turned() (func([]byte, []float32) []byte, func([]float32, []byte) []float32) {
	return appendTurned, appendTurnedValues
}
