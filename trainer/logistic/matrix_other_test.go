//go:build !amd64

package logistic

func assembled() []loops { return nil }
