// Package roc judges scores that should tell two kinds of samples apart: the
// area under the ROC curve, how far chance may have moved it, and the curve
// itself. It is pure: no clock, and random draws are keyed.
package roc
