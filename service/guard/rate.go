package guard

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// burst is the number of seconds' worth of requests that a client may make at once.
	burst = 2
	// mostClients bounds the number of remembered clients; beyond it those with a full bucket are
	// forgotten.
	mostClients = 4096
)

// clients holds a token bucket for each client.
type clients struct {
	perSecond float64
	mu        sync.Mutex
	known     map[netip.Addr]bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newClients(perSecond int) *clients {
	return &clients{perSecond: float64(perSecond), known: make(map[netip.Addr]bucket)}
}

// wait counts a request, and returns how long the client must wait; 0 means no wait.
func (c *clients) wait(client netip.Addr, now time.Time) time.Duration {
	if c.perSecond == 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= mostClients {
		c.forget(now)
	}
	b := c.filled(client, now)
	if b.left < 1 {
		c.known[client] = b
		return time.Duration((1 - b.left) / c.perSecond * float64(time.Second))
	}
	b.left--
	c.known[client] = b
	return 0
}

// filled is the current state of a client's bucket. A clock that was set back adds nothing.
func (c *clients) filled(client netip.Addr, now time.Time) bucket {
	full := burst * c.perSecond
	b, known := c.known[client]
	if !known {
		return bucket{full, now}
	}
	b.left = min(full, b.left+max(0, now.Sub(b.at).Seconds())*c.perSecond)
	b.at = now
	return b
}

// forget removes clients with a full bucket, or, if there are none, all.
func (c *clients) forget(now time.Time) {
	for client := range c.known {
		if c.filled(client, now).left >= burst*c.perSecond {
			delete(c.known, client)
		}
	}
	if len(c.known) >= mostClients {
		clear(c.known)
	}
}
