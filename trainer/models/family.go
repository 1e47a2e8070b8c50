package models

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// family says how a model is built.
type family struct {
	// widths is the number of hidden layers, attention whether they have heads.
	widths    int
	attention bool
	// aggregation is what the first layer makes of the features by the graph
	// alone, if it can be made beforehand.
	aggregation layers.Aggregation
	parameters  func(a Architecture, l *layers.Layout)
	// buffers is nil for a model without batch norm.
	buffers func(a Architecture, l *layers.Layout)
	logits  func(n *Network) *gorgonia.Node
}

// familyOf returns the family of a name, and whether there is one.
func familyOf(model string) (family, bool) {
	switch model {
	case EllipticGIN:
		return ellipticGIN(), true
	case EllipticGINMLP3:
		return ellipticGINMLP3(), true
	case SAGE:
		return sage(), true
	case GIN:
		return gin(), true
	case GCN:
		return gcn(), true
	case MLP:
		return mlp(), true
	case GAT:
		return gat(), true
	case GATv2:
		return gatv2(), true
	case SuperGAT:
		return superGAT(), true
	case APPNP:
		return appnp(), true
	case SGC:
		return sgc(), true
	default:
		return family{}, false
	}
}
