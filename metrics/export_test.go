package metrics

// Ready reports whether all components are ready and none has failed.
func (h *Health) Ready() bool {
	ok, _ := h.readiness()
	return ok
}
