package supervisor

import "context"

// Module is one part of the process.
type Module struct {
	Name string
	// Needs names the modules that are opened before this one and stopped after it. They come
	// before it in the list.
	Needs []string
	// Open prepares the module: it binds ports, opens stores, connects. It stores the results for the Open of other
	// modules. Its error is for the operator and includes the remedy.
	Open func(ctx context.Context) (Process, error)
}

// Process is an opened module.
type Process interface {
	// Run works until the context ends, which is no error. A module whose Run returns earlier has
	// failed.
	Run(ctx context.Context) error
	// Close releases what Open acquired. It is called once, and never while Run is running.
	Close() error
}

// State is what a module reports.
type State uint8

// A module is Running until it has Failed or is stopped.
const (
	Running State = iota + 1
	Failed
)

// Resource is a process without work of its own: it is closed by the function, which may be nil.
func Resource(closing func() error) Process { return resource{closing} }

type resource struct{ closing func() error }

// Run implements Process.
func (r resource) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// Close implements Process.
func (r resource) Close() error {
	if r.closing == nil {
		return nil
	}
	return r.closing()
}
