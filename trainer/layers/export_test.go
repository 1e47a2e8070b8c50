package layers

// FromTorch returns values in PyTorch's order as the tensor keeps them.
func (s Spec) FromTorch(values []float32) []float32 {
	s.Shape = s.TorchShape()
	return s.ToTorch(values)
}
