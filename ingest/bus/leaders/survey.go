// Package leaders decides which broker to trust if several claim to lead a partition.
//
// A broker that hung while another one became leader of its partitions claims for some seconds after it resumes
// that it is still the leader, also in metadata: the end of its log may be far behind the true leader's. By then
// the other brokers know a higher leader epoch, which only the true leader accepts in requests (KIP-320).
package leaders

import (
	"context"
	"sync"
	"time"
)

// Ask queries one broker for the leader epochs, from 0 on, of a topic's partitions, by partition.
type Ask func(ctx context.Context, broker int32, topic string) (map[int]int32, error)

// Survey queries all brokers. It is safe for concurrent use.
type Survey struct {
	ask Ask
	// patience is how long to wait for all brokers, limit is the timeout of one request.
	patience, limit time.Duration

	mu   sync.Mutex
	owed map[int32]debt
}

// debt is the number of a broker's outstanding responses.
type debt struct {
	questions int
	// since is the start of the oldest outstanding request or the time of the last response.
	since time.Time
}

// Result is the combined response of the brokers.
type Result struct {
	// Epochs are the highest leader epochs known to any of the brokers, by partition; partitions without
	// a known epoch are absent.
	Epochs map[int]int32
	// Whole means that all brokers have responded.
	Whole bool
}

// NewSurvey returns a Survey that waits for the brokers for at most patience. A broker whose response is overdue
// for longer is not queried again until it has responded, or limit has passed.
func NewSurvey(ask Ask, patience, limit time.Duration) *Survey {
	return &Survey{ask: ask, patience: patience, limit: limit, owed: make(map[int32]debt)}
}

// Ask queries the brokers for the leaders of a topic's partitions, as of the time of the call or later. It leaves
// out brokers that are unreachable or late. A single broker is not queried: no other one can lead in its place.
func (s *Survey) Ask(ctx context.Context, brokers []int32, topic string) Result {
	if len(brokers) < 2 {
		return Result{Whole: true}
	}
	result := Result{Epochs: make(map[int]int32)}
	answers := make(chan map[int]int32, len(brokers))
	asked, answered := 0, 0
	for _, broker := range brokers {
		if s.begin(broker) {
			asked++
			go func() { answers <- s.put(ctx, broker, topic) }()
		}
	}
	enough := time.NewTimer(s.patience)
	defer enough.Stop()
	for range asked {
		select {
		case epochs := <-answers:
			if epochs != nil {
				answered++
			}
			for partition, epoch := range epochs {
				if known, is := result.Epochs[partition]; !is || epoch > known {
					result.Epochs[partition] = epoch
				}
			}
		case <-ctx.Done():
			return result
		case <-enough.C:
			return result
		}
	}
	result.Whole = answered == len(brokers)
	return result
}

// put queries one broker after begin has allowed it, and returns nil if there is no response. It continues after
// the caller's context has ended, to learn whether the broker responds.
func (s *Survey) put(ctx context.Context, broker int32, topic string) map[int]int32 {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limit)
	defer cancel()
	epochs, err := s.ask(ctx, broker, topic)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed[broker] = debt{s.owed[broker].questions - 1, time.Now()}
	if err != nil {
		return nil
	}
	return epochs
}

// begin reports whether a broker should be queried.
func (s *Survey) begin(broker int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	owed := s.owed[broker]
	switch {
	case owed.questions == 0:
		owed.since = time.Now()
	case time.Since(owed.since) >= s.patience:
		return false
	}
	owed.questions++
	s.owed[broker] = owed
	return true
}
