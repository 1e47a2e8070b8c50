// Package report writes tables as Markdown and CSV and figures as SVG and PNG.
// It knows nothing of what is measured, only how figures are put on paper: the
// mean and the standard deviation over repetitions, a dash for what is not
// there, and the settings under every table.
package report
