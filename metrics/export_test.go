package metrics

// Ready reports whether every component is ready.
func (h *Health) Ready() bool {
	ready, _ := h.readiness()
	return ready
}
