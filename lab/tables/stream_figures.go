package tables

import (
	"lethe/lab/protocol"
	"lethe/lab/report"
	"lethe/scoring/quality"
)

// streamFigures are the figures of a data set: two measures along the test
// timesteps, each once for the paper's methods and once for lethe's own rows beside
// unsharded baselines, because all lines in one figure cannot be told apart.
type streamFigures struct{ f1, auc, ownF1, ownAUC *report.Figure }

func newStreamFigures(dataset string) streamFigures {
	figure := func(what, whose string) *report.Figure {
		return &report.Figure{Title: what + " by timestep, " + dataset + whose, X: "timestep", Y: what}
	}
	const paper, own = ", the paper's methods", ", lethe and unsharded baselines"
	return streamFigures{figure("macro-F1", paper), figure("AUC", paper), figure("macro-F1", own), figure("AUC", own)}
}

// add draws a row where it belongs.
func (c streamFigures) add(e streamRow, readings []protocol.Reading) {
	f1 := stepLine(e.String(), readings, func(s quality.Summary) float64 { return s.MacroF1 })
	auc := stepLine(e.String(), readings, func(s quality.Summary) float64 { return orNaN(s.AUC) })
	switch {
	case e.papers():
		c.f1.Lines, c.auc.Lines = append(c.f1.Lines, f1), append(c.auc.Lines, auc)
	case e.drawn:
		c.ownF1.Lines, c.ownAUC.Lines = append(c.ownF1.Lines, f1), append(c.ownAUC.Lines, auc)
	}
}

// addTo adds the figures to an output.
func (c streamFigures) addTo(out *Output, dataset string) {
	out.addFigure(dataset+"-macro-f1", c.f1)
	out.addFigure(dataset+"-auc", c.auc)
	out.addFigure(dataset+"-own-macro-f1", c.ownF1)
	out.addFigure(dataset+"-own-auc", c.ownAUC)
}

// stepLine is a measure by test timestep, averaged over splits.
func stepLine(name string, readings []protocol.Reading, pick func(quality.Summary) float64) report.Line {
	line := report.Line{Name: name}
	for i := 0; len(readings) > 0 && i < len(readings[0].PerStep); i++ {
		if readings[0].PerStep[i].Part != "test" {
			continue
		}
		var s report.Sample
		for _, r := range readings {
			s = append(s, pick(r.PerStep[i].Summary))
		}
		line.X, line.Y = append(line.X, float64(readings[0].PerStep[i].Timestep)), append(line.Y, s.Mean())
	}
	return line
}
