package metrics

import (
	"math"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"lethe"
	"lethe/metrics/events"
	"lethe/scoring/quality"
)

// training tracks the training of models, and which ones are served.
func (f factory) training() events.Listener {
	train := f.NewHistogramVec(timing("lethe_shard_train_duration_seconds",
		"Time to train one shard on one timestep, by reason.", stepBuckets()), []string{"reason"})
	begin(train, events.TrainReasons())
	steps := f.counters("lethe_shard_train_steps_total",
		"Optimisation steps on one slice, over all shards, by reason.", "reason")
	begin(steps, events.TrainReasons())
	ensemble := f.gauge("lethe_ensemble_timestep",
		"Timestep through which the served models were trained, -1 for none yet.")
	ensemble.Set(float64(lethe.NoTimestep))
	version := f.gauges("lethe_model_version_info",
		"Always 1; the served ensemble's version, shortened, is in the label.", "version")
	var versionMu sync.Mutex // held while one version replaces another
	return events.Tee(
		events.On(func(e events.ShardTrained) {
			reason := within(e.Reason, events.TrainReasons())
			train.WithLabelValues(reason).Observe(e.Duration.Seconds())
			steps.WithLabelValues(reason).Add(float64(max(0, e.Steps)))
		}),
		events.On(func(e events.EnsembleSwapped) {
			ensemble.Set(float64(e.Timestep))
			// A single series is kept: otherwise one would remain for every version ever served.
			versionMu.Lock()
			defer versionMu.Unlock()
			version.Reset()
			version.WithLabelValues(e.Version.String()[:12]).Set(1)
		}),
	)
}

// predictions tracks published predictions.
func (f factory) predictions() events.Listener {
	scoring := f.NewHistogram(timing("lethe_scoring_duration_seconds",
		"Time to score one closed timestep and publish its predictions.", stepBuckets()))
	predictions := f.counters("lethe_predictions_total", "Published predictions, by predicted class.", "class")
	begin(predictions, []string{"licit", "illicit"})
	score := f.NewHistogram(prometheus.HistogramOpts{
		Name: "lethe_score", Help: "Predicted probability of illicit, of 1.", Buckets: scoreBuckets(),
	})
	reasons := f.gauge("lethe_reasons_pending",
		"Alerts that are published and wait for their reasons.")
	provisional := f.NewCounter(prometheus.CounterOpts{
		Name: "lethe_provisional_predictions_total",
		Help: "Published predictions for transactions of timesteps that were open.",
	})
	delay := f.NewHistogram(timing("lethe_provisional_delay_seconds",
		"Time from a record of a transaction or payment to the provisional prediction in its topic.", stepBuckets()))
	return events.Tee(
		events.On(func(e events.SnapshotScored) {
			scoring.Observe(e.Duration.Seconds())
			predictions.WithLabelValues("illicit").Add(float64(e.IllicitCount))
			predictions.WithLabelValues("licit").Add(float64(len(e.Illicit) - e.IllicitCount))
			for _, p := range e.Illicit {
				score.Observe(p)
			}
		}),
		events.On(func(e events.ReasonsOwed) { reasons.Set(float64(e.Alerts)) }),
		events.On(func(e events.ProvisionallyScored) {
			provisional.Add(float64(e.Predictions))
			for _, d := range e.Delays {
				delay.Observe(d.Seconds())
			}
		}),
	)
}

// drift compares a timestep's scores with those of earlier timesteps.
func (f factory) drift() events.Listener {
	psi := f.gauge("lethe_score_drift_psi",
		"Population stability index of the last timestep's scores beside those since the process began; NaN for none.")
	psi.Set(math.NaN())
	var mu sync.Mutex
	var before quality.ScoreCounts
	return events.On(func(e events.SnapshotScored) {
		mu.Lock()
		defer mu.Unlock()
		var now quality.ScoreCounts
		for _, s := range e.Illicit {
			now.Add(s, 1)
		}
		psi.Set(now.Drift(before))
		before.AddAll(now)
	})
}

// quality tracks how good predictions were.
func (f factory) quality() events.Listener {
	timestep := f.gauge("lethe_prequential_timestep",
		"Timestep whose labels the prequential measures are of, -1 for none yet.")
	auc := f.gauge("lethe_prequential_auc_ratio",
		"Area under the ROC curve of one timestep's predictions, made before its labels; NaN if not defined.")
	macroF1 := f.gauge("lethe_prequential_macro_f1_ratio",
		"Macro F1 of one timestep's predictions, made before its labels; NaN if not defined.")
	illicitF1 := f.gauge("lethe_prequential_illicit_f1_ratio",
		"F1 of the class illicit of one timestep's predictions, made before its labels; NaN if not defined.")
	calibration := f.gauge("lethe_prequential_calibration_error_ratio",
		"Expected calibration error of one timestep's probabilities, made before its labels; NaN if not defined.")
	measured := func(e events.QualityMeasured) {
		timestep.Set(float64(e.Timestep))
		auc.Set(e.AUC)
		macroF1.Set(e.MacroF1)
		illicitF1.Set(e.IllicitF1)
		calibration.Set(e.CalibrationError)
	}
	measured(events.QualityMeasured{
		Timestep: lethe.NoTimestep, AUC: math.NaN(), MacroF1: math.NaN(), IllicitF1: math.NaN(),
		CalibrationError: math.NaN(),
	})
	return events.On(measured)
}
