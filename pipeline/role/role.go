package role

import "context"

// Role is a part of the pipeline. Roles share topics only.
type Role interface {
	// Name is the role's name in the configuration.
	Name() string
	// Run runs the role until the context ends, which is no error.
	Run(ctx context.Context) error
	// Close closes the role's stores. It must not be called while Run is running.
	Close() error
	// Status returns the role's status, which must not be changed. Any goroutine may call it.
	Status() *Status
}
