package role

import (
	"context"

	"lethe/ingest/bus"
)

// earlier is up to where those who led before a term of this process have dealt with control.v1. That is what the
// process commits, to be asked whether it leads, until it plays its role, and the least from then on. A lower position
// would be taken for how far who leads has come: as the process stands by it reads no further than that, and so it
// would never come to where it may lead; and one that takes over from it would read too little.
type earlier struct{ term, at int64 }

// askEarlier returns up to where those who led before a term of this process have dealt with partitions, and notes what
// they have said of control.v1. Brokers take no more of it from them once they have made this process the leader.
func askEarlier(
	ctx context.Context, l *Lead, term int64, of []bus.TopicPartition,
) (map[bus.TopicPartition]int64, error) {
	said, err := l.announced(ctx, of)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.earlier = earlier{term, max(0, said[bus.TopicPartition{Topic: bus.Control}])}
	return said, nil
}
