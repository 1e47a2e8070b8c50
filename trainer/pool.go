package trainer

import (
	"fmt"
	"slices"
	"sync"

	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// maxIdlePrograms and maxIdleBytes bound the idle programs. A program that scores 4,159
// transactions at width 1024 takes some 250 MB.
const (
	maxIdlePrograms = 8
	maxIdleBytes    = 512 << 20
)

// pool keeps compiled programs between calls. The choice of program does not affect results.
type pool struct {
	networks models.Families
	kernels  kernels.Set
	mu       sync.Mutex
	// idle is ordered by the time of return, oldest first.
	idle []*program
	// sizes caches the sizes by architecture.
	sizes map[string]sizes
}

// sizes are the numbers of parameters and buffers of an architecture.
type sizes struct{ params, buffers int }

// take returns an idle program of the shape, or compiles one.
func (p *pool) take(shape programShape) (*program, error) {
	key := shape.key()
	p.mu.Lock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if found := p.idle[i]; found.key == key {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.mu.Unlock()
			return found, nil
		}
	}
	p.mu.Unlock()
	return compile(p.networks, shape, p.kernels)
}

// check is Checkpoint.check with the sizes of an architecture computed once.
func (p *pool) check(c *Checkpoint) error {
	key := fmt.Sprintf("%+v", c.Architecture)
	p.mu.Lock()
	want, known := p.sizes[key]
	p.mu.Unlock()
	if known {
		return c.fits(want.params, want.buffers)
	}
	if err := c.check(p.networks); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sizes == nil {
		p.sizes = make(map[string]sizes)
	}
	p.sizes[key] = sizes{len(c.Params), len(c.Buffers)}
	return nil
}

// give returns a program to the pool.
func (p *pool) give(done *program) {
	done.Work.Batch = nil
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, done)
	total := 0
	for _, each := range p.idle {
		total += each.sizeBytes()
	}
	for len(p.idle) > maxIdlePrograms || total > maxIdleBytes {
		total -= p.idle[0].sizeBytes()
		p.idle = slices.Delete(p.idle, 0, 1)
	}
}
