package role

import "lethe/ingest/bus"

// Kafka returns the topics that a client is connected to.
func Kafka(client *bus.Client) Bus { return kafka{client} }

type kafka struct{ *bus.Client }

// Follow implements Bus.
func (k kafka) Follow(positions map[bus.TopicPartition]int64) (Tail, error) {
	tail, err := k.Tail(positions)
	if err != nil {
		return nil, err
	}
	return tail, nil
}
