package scan

// Summary is what a search looked at and found, in numbers.
type Summary struct {
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
	Records int64 `json:"records"`
	Hits    int   `json:"hits"`
	// NotRead counts links, sockets and devices met in the directories.
	NotRead int `json:"not_read"`
}

// Add sums two summaries.
func (s Summary) Add(t Summary) Summary {
	return Summary{s.Files + t.Files, s.Bytes + t.Bytes, s.Records + t.Records, s.Hits + t.Hits, s.NotRead + t.NotRead}
}

// Summary puts the report in numbers.
func (r Report) Summary() Summary {
	return Summary{Files: r.Files, Bytes: r.Bytes, Hits: len(r.Hits), NotRead: len(r.NotRead)}
}
