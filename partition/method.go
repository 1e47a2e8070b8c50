package partition

import (
	"errors"
	"fmt"
	"strings"

	"lethe/partition/baselines"
	"lethe/partition/gpfb"
	"lethe/partition/method"
)

// The methods. MethodGPFBFast is the default.
const (
	MethodGPFBFast = "gpfb-fast"
	MethodRandom   = "random"
	// MethodIndependent assigns every node by a hash of its own name only.
	MethodIndependent = "independent"
)

// Methods lists the names of the methods, the default first: those that meet the quotas, and the one
// in which no node's shard depends on another node.
func Methods() []string { return append(QuotaMethods(), MethodIndependent) }

// QuotaMethods lists the methods whose proposals meet the quotas.
func QuotaMethods() []string { return []string{MethodGPFBFast, MethodRandom} }

// ErrMethod marks an unknown method. The caller should choose one of those that the error lists.
var ErrMethod = errors.New("no such partition method")

// method returns the method that the configuration names, with its settings.
func (c Config) method() (method.Method, error) {
	if c.Other != nil {
		return c.Other, nil
	}
	switch c.Method {
	case MethodGPFBFast:
		return gpfb.Fast{Config: c.GPFB()}, nil
	case MethodRandom:
		return baselines.Random{}, nil
	case MethodIndependent:
		return baselines.Independent{Nodes: c.Nodes}, nil
	default:
		return nil, fmt.Errorf("%w: %q, choose one of %s", ErrMethod, c.Method, strings.Join(Methods(), ", "))
	}
}
