package role

import "context"

// Role is one part of the pipeline. Roles share nothing but topics.
type Role interface {
	// Name is the role's name in the configuration.
	Name() string
	// Run follows the role's topics until the context ends, which is no error.
	Run(ctx context.Context) error
	// Close closes the role's stores. It must not be called while Run is running.
	Close() error
	// Status returns what the role knows. It may be called from any goroutine;
	// the result must not be changed.
	Status() *Status
}
