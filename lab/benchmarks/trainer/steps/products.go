package main

import (
	"lethe/trainer/kernels"
)

// products multiplies what a step of the Elliptic GIN multiplies, and does
// nothing else: the bound that the kernel set puts on a step.
type products struct {
	set kernels.Set
	// layers and scratch are those of every worker.
	layers  [][]layer
	scratch []kernels.Scratch
}

// layer holds the operands of a linear layer with weights out × in.
type layer struct {
	input, weights, output kernels.Matrix
	inputGrad, weightsGrad kernels.Matrix
	// inner layers pass a gradient on to their input.
	inner bool
}

func newProducts(width, workers int, set kernels.Set) *products {
	p := &products{set: set, scratch: make([]kernels.Scratch, workers)}
	for range workers {
		p.layers = append(p.layers, linearLayers(300, width))
	}
	return p
}

// linearLayers are those of the Elliptic GIN.
func linearLayers(rows, width int) []layer {
	var out []layer
	in, narrow := 165, width/4
	for i, n := range []int{width, width, width, width, narrow, narrow, narrow, 2} {
		out = append(out, layer{
			input: filled(rows, in), weights: filled(n, in), output: filled(rows, n),
			inputGrad: filled(rows, in), weightsGrad: filled(n, in), inner: i > 0,
		})
		in = n
	}
	return out
}

// advance multiplies forward and backward once.
func (p *products) advance(worker int) (int, error) {
	layers, scratch := p.layers[worker], &p.scratch[worker]
	for _, l := range layers {
		p.set.Products.MulNT(l.output, l.input, l.weights, scratch)
	}
	for _, l := range layers {
		p.set.Products.MulTN(l.weightsGrad, l.output, l.input, scratch)
		if l.inner {
			p.set.Products.MulNN(l.inputGrad, l.output, l.weights, scratch)
		}
	}
	return 1, nil
}

// filled returns a matrix of small values.
func filled(rows, cols int) kernels.Matrix {
	m := kernels.Matrix{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
	for i := range m.Data {
		m.Data[i] = float32(i%13) / 64
	}
	return m
}
