package models

import (
	"gorgonia.org/gorgonia"

	"lethe/trainer/layers"
)

// The models with attention.
const (
	GAT      = "gat"
	GATv2    = "gatv2"
	SuperGAT = "supergat"
)

// attentionFamily is two attention layers with ELU between them: the heads of the first are
// concatenated, those of the second averaged. Dropout is before both and on the attention. There
// are 8 heads, and outputs heads in the last layer.
func attentionFamily(
	name string, outputs int,
	parameters func(l *layers.Layout, conv string, in int, shape layers.Attention),
	layer func(n *Network, x *gorgonia.Node, conv string, shape layers.Attention) *gorgonia.Node,
) family {
	return family{
		name: name, widths: oneLayer, sizes: Architecture{Heads: 8, OutputHeads: outputs},
		settings: Settings{Dropout: 0.6}, attention: true, takesDropout: true,
		parameters: func(a Architecture, l *layers.Layout) {
			in := a.Features
			for i, shape := range a.attention(0) {
				parameters(l, convolution(i), in, shape)
				bias := shape.Heads * shape.Channels
				if i == 1 {
					bias = shape.Channels
				}
				l.Add(convolution(i)+".bias", layers.Start{}, bias)
				in = shape.Heads * shape.Channels
			}
		},
		logits: func(n *Network) *gorgonia.Node {
			x := n.Features
			for i, shape := range n.Architecture.attention(n.Settings.Dropout) {
				x = layer(n, n.dropout(x), convolution(i), shape)
				if i == 1 {
					x = layers.HeadMean(n.Builder, x, shape.Heads)
				}
				x = n.mark(convolution(i), layers.Bias(n.Builder, x, n.parameter(convolution(i)+".bias")))
				if i == 0 {
					x = n.mark("act1", layers.ELU(n.Builder, x))
				}
			}
			return x
		},
	}
}

// attention returns the shapes of the two layers.
func (a Architecture) attention(dropout float64) [2]layers.Attention {
	return [2]layers.Attention{
		{Heads: a.Heads, Channels: a.Widths[0] / a.Heads, Dropout: dropout},
		{Heads: a.OutputHeads, Channels: a.Classes, Dropout: dropout},
	}
}

// vectors adds attention vectors of shape [1, heads, channels].
func vectors(l *layers.Layout, shape layers.Attention, names ...string) {
	for _, name := range names {
		l.Add(name, layers.Glorot(shape.Heads, shape.Channels), 1, shape.Heads, shape.Channels)
	}
}

func gat() family {
	return attentionFamily(GAT, 1,
		func(l *layers.Layout, conv string, in int, shape layers.Attention) {
			vectors(l, shape, conv+".att_src", conv+".att_dst")
			out := shape.Heads * shape.Channels
			l.Matrix(conv+".lin.weight", in, out, layers.Glorot(in, out))
		},
		func(n *Network, x *gorgonia.Node, conv string, shape layers.Attention) *gorgonia.Node {
			z := layers.Linear(n.Builder, x, n.parameter(conv+".lin.weight"), nil)
			return layers.GAT(n.Builder, z, n.parameter(conv+".att_src"), n.parameter(conv+".att_dst"), shape)
		})
}

func gatv2() family {
	return attentionFamily(GATv2, 1,
		func(l *layers.Layout, conv string, in int, shape layers.Attention) {
			vectors(l, shape, conv+".att")
			out := shape.Heads * shape.Channels
			for _, side := range []string{".lin_l", ".lin_r"} {
				l.Matrix(conv+side+".weight", in, out, layers.Glorot(in, out))
				l.Add(conv+side+".bias", layers.FanIn(in), out)
			}
		},
		func(n *Network, x *gorgonia.Node, conv string, shape layers.Attention) *gorgonia.Node {
			pairs := layers.LinearPair(n.Builder, x, n.parameter(conv+".lin_l.weight"), n.parameter(conv+".lin_r.weight"),
				n.parameter(conv+".lin_l.bias"), n.parameter(conv+".lin_r.bias"))
			return layers.GATv2(n.Builder, pairs, n.parameter(conv+".att"), shape)
		})
}

func superGAT() family {
	f := attentionFamily(SuperGAT, 8,
		func(l *layers.Layout, conv string, in int, shape layers.Attention) {
			vectors(l, shape, conv+".att_l", conv+".att_r")
			out := shape.Heads * shape.Channels
			l.Matrix(conv+".lin.weight", in, out, layers.Glorot(in, out))
		},
		func(n *Network, x *gorgonia.Node, conv string, shape layers.Attention) *gorgonia.Node {
			z := layers.Linear(n.Builder, x, n.parameter(conv+".lin.weight"), nil)
			left, right := n.parameter(conv+".att_l"), n.parameter(conv+".att_r")
			return layers.SuperGAT(n.Builder, z, left, right, shape, n.Settings.Attention)
		})
	f.settings.Attention = layers.SelfSupervision{Weight: 4, EdgeRatio: 0.8, NegativeRatio: 0.5}
	return f
}
