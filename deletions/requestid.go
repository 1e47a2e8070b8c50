package deletions

// ValidRequestID reports whether the text may name a request: 1 to 128 of A-Z,
// a-z, 0-9, '.', '_' and '-', not beginning with '.'.
func ValidRequestID(id string) bool {
	if id == "" || len(id) > maxRequestIDBytes || id[0] == '.' {
		return false
	}
	for i := range len(id) {
		if c := id[i]; !alphanumeric(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
