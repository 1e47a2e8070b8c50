package partition

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The methods. MethodGPFBFast is the default.
const (
	MethodGPFBFast = "gpfb-fast"
	MethodGPFBSR   = "gpfb-sr"
	MethodRandom   = "random"
	MethodBLPA     = "blpa"
	MethodBEKM     = "bekm"
)

// Methods lists the names of the methods, the default first.
func Methods() []string {
	return []string{MethodGPFBFast, MethodGPFBSR, MethodRandom, MethodBLPA, MethodBEKM}
}

// ErrMethod marks a method that does not exist. The caller should choose one of
// those that the error lists.
var ErrMethod = errors.New("no such partition method")

// method proposes an assignment and may note in the report how it got there.
type method interface {
	// even reports whether proposals under these options fill the quotas. Only
	// those are refined, since swaps keep whatever balance they find.
	even(opts Options) bool
	// sweeps is the default bound on sweeps.
	sweeps() int
	propose(ctx context.Context, g *Graph, q *quotas, opts Options, report *Report) (Assignment, error)
}

// methodNamed returns the method of a name.
func methodNamed(name string) (method, error) {
	switch name {
	case MethodGPFBFast:
		return gpfbFast{}, nil
	case MethodGPFBSR:
		return gpfbSR{}, nil
	case MethodRandom:
		return randomMethod{}, nil
	case MethodBLPA:
		return blpa{}, nil
	case MethodBEKM:
		return bekm{}, nil
	default:
		return nil, fmt.Errorf("%w: %q, choose one of %s", ErrMethod, name, strings.Join(Methods(), ", "))
	}
}
