package role

import "lethe/ingest/bus"

// Kafka is the topics that a client is connected to.
type Kafka struct {
	*bus.Client
	// Gather is for how long records gather before they are read.
	Gather bus.Gathering
}

// Follow implements Bus.
func (k Kafka) Follow(positions map[bus.TopicPartition]int64) (Tail, error) {
	tail, err := k.TailGathering(positions, k.Gather)
	if err != nil {
		return nil, err
	}
	return tail, nil
}
