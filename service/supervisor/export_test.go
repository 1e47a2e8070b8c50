package supervisor

// String returns the state's name.
func (s State) String() string {
	return [...]string{"new", "running", "failed"}[s]
}
