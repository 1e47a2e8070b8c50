package role

import "lethe/ingest/bus"

// Kafka is the topics that a client is connected to.
type Kafka struct{ *bus.Client }

// Follow implements Bus.
func (k Kafka) Follow(positions map[bus.TopicPartition]int64) (Tail, error) {
	tail, err := k.Tail(positions)
	if err != nil {
		return nil, err
	}
	return tail, nil
}
