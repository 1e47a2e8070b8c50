package deletions

// Batch names the requests of one scope that are carried out together: with one
// rewrite of every place, one replay of every shard and one command to the roles.
type Batch struct {
	// Leader is the request under whose id the batch is commanded and answered.
	Leader string `json:"leader"`
	// Size is the number of its requests.
	Size int `json:"size"`
}

// Leader is the request under whose id the entry's batch is commanded and answered:
// itself, if it is in none.
func (e *Entry) Leader() string {
	if e.Batch.Leader == "" {
		return e.RequestID
	}
	return e.Batch.Leader
}
