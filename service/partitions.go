package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// partitionsHold reports whether the topics have the partitions that they had when
// the process began. Records in added ones are not read, and keys have moved to them,
// so that no timestep is complete any more. Without an answer it says no.
func (s *Service) partitionsHold(ctx context.Context) (hold bool) {
	counts, err := s.client.Admin().Partitions(ctx)
	if err != nil {
		return false // the health checks say that brokers are away; it is asked again
	}
	hold = true
	for _, topic := range slices.Sorted(maps.Keys(s.partitions)) {
		if had, has := s.partitions[topic], counts[topic]; has > had {
			hold = false
			s.outages.lastingly(string(topic), "partitions", fmt.Sprintf("it has %d partitions, and had %d when lethe began: "+
				"keys have moved, no timestep is closed or settled any more (begin anew with another kafka.topic_prefix "+
				"and empty data directories)", has, had))
		}
	}
	return hold
}
