package deletions

// Batch names the requests of one scope that run together: one rewrite, one replay of every shard, one command.
type Batch struct {
	// Leader is the request whose id names the batch in commands and acknowledgements.
	Leader string `json:"leader"`
	Size   int    `json:"size"`
}

// Leader is the leader of the entry's batch, or the entry's own request if it has no batch.
func (e *Entry) Leader() string {
	if e.Batch.Leader == "" {
		return e.RequestID
	}
	return e.Batch.Leader
}
