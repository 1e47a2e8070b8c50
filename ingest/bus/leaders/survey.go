// Package leaders finds out which leader of a partition is to be believed.
//
// A broker that hung while another one was made leader of its partitions takes itself for the leader for some
// seconds after it went on, and says so in metadata: where its log ends the true one may have gone on long ago.
// The other brokers know a higher leader epoch by then, with which nobody else than the true leader answers (KIP-320).
package leaders

import (
	"context"
	"sync"
	"time"
)

// Ask asks one broker for the leader epochs, from 0 on, of a topic's partitions, by partition.
type Ask func(ctx context.Context, broker int32, topic string) (map[int]int32, error)

// Survey asks all brokers. It is safe for use by several goroutines.
type Survey struct {
	ask Ask
	// patience is how long all brokers are waited for, limit how long one may take to answer.
	patience, limit time.Duration

	mu   sync.Mutex
	owed map[int32]debt
}

// debt is what a broker has not answered yet.
type debt struct {
	questions int
	// since is when the broker began to owe something, or answered last.
	since time.Time
}

// Said is what brokers said together.
type Said struct {
	// Epochs are the highest leader epochs that any of them knows, by partition; without partitions of which
	// none of them knows one.
	Epochs map[int]int32
	// Whole says that all of them have answered.
	Whole bool
}

// NewSurvey returns one that waits for brokers as long as patience says. A broker that owes an answer for longer is not
// asked again before it has answered, or limit is over.
func NewSurvey(ask Ask, patience, limit time.Duration) *Survey {
	return &Survey{ask: ask, patience: patience, limit: limit, owed: make(map[int32]debt)}
}

// Ask asks brokers about the leaders of a topic's partitions, as of the time of the call or later. It leaves out those
// that cannot be asked or are late. One broker alone is not asked: nobody else can lead in its place.
func (s *Survey) Ask(ctx context.Context, brokers []int32, topic string) Said {
	if len(brokers) < 2 {
		return Said{Whole: true}
	}
	said := Said{Epochs: make(map[int]int32)}
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
				if known, is := said.Epochs[partition]; !is || epoch > known {
					said.Epochs[partition] = epoch
				}
			}
		case <-ctx.Done():
			return said
		case <-enough.C:
			return said
		}
	}
	said.Whole = answered == len(brokers)
	return said
}

// put asks one broker, which begin allowed, and returns nil if it says nothing. It goes on when whoever asked is gone,
// to know whether the broker answers.
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

// begin reports whether a broker is to be asked.
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
