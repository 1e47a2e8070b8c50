package networks

import (
	"gorgonia.org/gorgonia"

	"lethe/lab/networks/graphlayers"
	"lethe/trainer/layers"
	"lethe/trainer/models"
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
	parameters func(l *layers.Layout, conv string, in int, shape graphlayers.Attention),
	layer func(n *models.Network, x *gorgonia.Node, conv string, shape graphlayers.Attention) *gorgonia.Node,
) models.Family {
	return models.Family{
		Name: name, Widths: models.OneLayer, Sizes: models.Architecture{Heads: 8, OutputHeads: outputs},
		Settings: models.Settings{Dropout: 0.6}, Attention: true, TakesDropout: true, Reach: reach, Prepare: derive,
		Parameters: func(a models.Architecture, l *layers.Layout) {
			in := a.Features
			for i, shape := range attention(a, 0) {
				parameters(l, models.Convolution(i), in, shape)
				bias := shape.Heads * shape.Channels
				if i == 1 {
					bias = shape.Channels
				}
				l.Add(models.Convolution(i)+".bias", layers.Start{}, bias)
				in = shape.Heads * shape.Channels
			}
		},
		Logits: func(n *models.Network) *gorgonia.Node {
			x := n.Features
			for i, shape := range attention(n.Architecture, n.Settings.Dropout) {
				x = layer(n, dropout(n, x), models.Convolution(i), shape)
				if i == 1 {
					x = graphlayers.HeadMean(n.Builder, x, shape.Heads)
				}
				x = n.Mark(models.Convolution(i), layers.Bias(n.Builder, x, n.Parameter(models.Convolution(i)+".bias")))
				if i == 0 {
					x = n.Mark("act1", graphlayers.ELU(n.Builder, x))
				}
			}
			return x
		},
	}
}

// attention returns the shapes of the two layers.
func attention(a models.Architecture, dropout float64) [2]graphlayers.Attention {
	return [2]graphlayers.Attention{
		{Heads: a.Heads, Channels: a.Widths[0] / a.Heads, Dropout: dropout},
		{Heads: a.OutputHeads, Channels: a.Classes, Dropout: dropout},
	}
}

// vectors adds attention vectors of shape [1, heads, channels].
func vectors(l *layers.Layout, shape graphlayers.Attention, names ...string) {
	for _, name := range names {
		l.Add(name, glorot(shape.Heads, shape.Channels), 1, shape.Heads, shape.Channels)
	}
}

func gat() models.Family {
	return attentionFamily(GAT, 1,
		func(l *layers.Layout, conv string, in int, shape graphlayers.Attention) {
			vectors(l, shape, conv+".att_src", conv+".att_dst")
			out := shape.Heads * shape.Channels
			l.Matrix(conv+".lin.weight", in, out, glorot(in, out))
		},
		func(n *models.Network, x *gorgonia.Node, conv string, shape graphlayers.Attention) *gorgonia.Node {
			z := layers.Linear(n.Builder, x, n.Parameter(conv+".lin.weight"), nil)
			return graphlayers.GAT(n.Builder, z, n.Parameter(conv+".att_src"), n.Parameter(conv+".att_dst"), shape)
		})
}

func gatv2() models.Family {
	return attentionFamily(GATv2, 1,
		func(l *layers.Layout, conv string, in int, shape graphlayers.Attention) {
			vectors(l, shape, conv+".att")
			out := shape.Heads * shape.Channels
			for _, side := range []string{".lin_l", ".lin_r"} {
				l.Matrix(conv+side+".weight", in, out, glorot(in, out))
				l.Add(conv+side+".bias", layers.FanIn(in), out)
			}
		},
		func(n *models.Network, x *gorgonia.Node, conv string, shape graphlayers.Attention) *gorgonia.Node {
			pairs := graphlayers.LinearPair(n.Builder, x, n.Parameter(conv+".lin_l.weight"), n.Parameter(conv+".lin_r.weight"),
				n.Parameter(conv+".lin_l.bias"), n.Parameter(conv+".lin_r.bias"))
			return graphlayers.GATv2(n.Builder, pairs, n.Parameter(conv+".att"), shape)
		})
}

func superGAT() models.Family {
	f := attentionFamily(SuperGAT, 8,
		func(l *layers.Layout, conv string, in int, shape graphlayers.Attention) {
			vectors(l, shape, conv+".att_l", conv+".att_r")
			out := shape.Heads * shape.Channels
			l.Matrix(conv+".lin.weight", in, out, glorot(in, out))
		},
		func(n *models.Network, x *gorgonia.Node, conv string, shape graphlayers.Attention) *gorgonia.Node {
			z := layers.Linear(n.Builder, x, n.Parameter(conv+".lin.weight"), nil)
			left, right := n.Parameter(conv+".att_l"), n.Parameter(conv+".att_r")
			return graphlayers.SuperGAT(n.Builder, z, left, right, shape, graphlayers.SelfSupervision{
				Weight: n.Settings.AttentionLoss, EdgeRatio: n.Settings.EdgeRatio, NegativeRatio: n.Settings.NegativeRatio,
			})
		})
	f.Settings.AttentionLoss, f.Settings.EdgeRatio, f.Settings.NegativeRatio = 4, 0.8, 0.5
	return f
}
