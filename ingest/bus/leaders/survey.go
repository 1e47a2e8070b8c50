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

// Ask asks one broker for the leader epochs of a topic's partitions, by partition.
type Ask func(ctx context.Context, broker int32, topic string) (map[int]int32, error)

// Survey asks all brokers. It is safe for use by several goroutines.
type Survey struct {
	ask Ask
	// patience is how long all brokers are waited for, limit how long one may take to answer.
	patience, limit time.Duration

	mu sync.Mutex
	// late counts, by broker, the questions that were not answered in time and still may be.
	late map[int32]int
}

// NewSurvey returns one that waits for brokers as long as patience says. A broker that has not answered by then is
// not asked again before it has answered, or limit is over.
func NewSurvey(ask Ask, patience, limit time.Duration) *Survey {
	return &Survey{ask: ask, patience: patience, limit: limit, late: make(map[int32]int)}
}

// Epochs returns the highest leader epoch that any of the brokers knows of each partition of a topic, as of the time
// of the call or later. Brokers that cannot be asked, or are late, are left out, and so are partitions of which none
// of them knows an epoch. One broker alone is not asked: nobody else can lead in its place.
func (s *Survey) Epochs(ctx context.Context, brokers []int32, topic string) map[int]int32 {
	newest := make(map[int]int32)
	if len(brokers) < 2 {
		return newest
	}
	answers := make(chan map[int]int32, len(brokers))
	var asked []*question
	for _, broker := range brokers {
		if q := s.begin(broker); q != nil {
			asked = append(asked, q)
			go func() {
				epochs, _ := s.put(ctx, broker, topic) // who cannot be asked says nothing
				s.end(q)
				answers <- epochs
			}()
		}
	}
	enough := time.NewTimer(s.patience)
	defer enough.Stop()
	for range asked {
		select {
		case epochs := <-answers:
			for partition, epoch := range epochs {
				newest[partition] = max(newest[partition], epoch)
			}
		case <-ctx.Done():
			return newest
		case <-enough.C:
			s.giveUp(asked)
			return newest
		}
	}
	return newest
}

// put asks one broker. It goes on when whoever asked is gone, to know when the broker answers again.
func (s *Survey) put(ctx context.Context, broker int32, topic string) (map[int]int32, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limit)
	defer cancel()
	return s.ask(ctx, broker, topic)
}

// question is one of a broker that is on its way.
type question struct {
	broker         int32
	answered, late bool
}

// begin returns nil if the broker owes an answer for long.
func (s *Survey) begin(broker int32) *question {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late[broker] > 0 {
		return nil
	}
	return &question{broker: broker}
}

func (s *Survey) end(q *question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.answered = true; q.late {
		s.late[q.broker]--
	}
}

// giveUp notes which brokers are late.
func (s *Survey) giveUp(asked []*question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range asked {
		if !q.answered {
			q.late = true
			s.late[q.broker]++
		}
	}
}
