package scan

// IsListed reports whether a word stands in texts of lethe or of what it writes with.
func IsListed(word string) bool { return isListed(word) }
