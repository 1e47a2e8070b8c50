package metrics

import (
	"math"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"lethe"
	"lethe/metrics/events"
	"lethe/scoring/quality"
)

// modelMetrics tracks training, the served ensemble and its predictions.
type modelMetrics struct {
	train           *prometheus.HistogramVec
	steps           *prometheus.CounterVec
	ensemble        prometheus.Gauge
	versionMu       sync.Mutex // held while one version replaces another
	version         *prometheus.GaugeVec
	scoring         prometheus.Histogram
	predictions     *prometheus.CounterVec
	score           prometheus.Histogram
	reasons         prometheus.Gauge
	provisional     prometheus.Counter
	delay           prometheus.Histogram
	qualityTimestep prometheus.Gauge
	auc, macroF1    prometheus.Gauge
	illicitF1       prometheus.Gauge
	calibration     prometheus.Gauge
	driftMu         sync.Mutex // held while scores are compared with earlier ones
	before          quality.ScoreCounts
	psi             prometheus.Gauge
}

func newModelMetrics() *modelMetrics {
	m := &modelMetrics{
		train: prometheus.NewHistogramVec(timing("lethe_shard_train_duration_seconds",
			"Time to train one shard on one timestep, by reason.", stepBuckets()), []string{"reason"}),
		steps: counters("lethe_shard_train_steps_total",
			"Optimisation steps on one slice, over all shards, by reason.", "reason", texts(events.TrainReasons())),
		ensemble: gauge("lethe_ensemble_timestep",
			"Timestep through which the served models were trained, -1 for none yet."),
		version: gauges("lethe_model_version_info",
			"Always 1; the served ensemble's version, shortened, is in the label.", "version"),
		scoring: prometheus.NewHistogram(timing("lethe_scoring_duration_seconds",
			"Time to score one closed timestep and publish its predictions.", stepBuckets())),
		predictions: counters("lethe_predictions_total",
			"Published predictions, by predicted class.", "class", []string{"licit", "illicit"}),
		score: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "lethe_score",
			Help:    "Predicted probability of illicit, of 1.",
			Buckets: scoreBuckets(),
		}),
		reasons: gauge("lethe_reasons_pending",
			"Alerts that are published and wait for their reasons."),
		provisional: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lethe_provisional_predictions_total",
			Help: "Published predictions for transactions of timesteps that were open.",
		}),
		delay: prometheus.NewHistogram(timing("lethe_provisional_delay_seconds",
			"Time from a record of a transaction or payment to the provisional prediction in its topic.", stepBuckets())),
		qualityTimestep: gauge("lethe_prequential_timestep",
			"Timestep whose labels the prequential measures are of, -1 for none yet."),
		auc: gauge("lethe_prequential_auc_ratio",
			"Area under the ROC curve of one timestep's predictions, made before its labels; NaN if not defined."),
		macroF1: gauge("lethe_prequential_macro_f1_ratio",
			"Macro F1 of one timestep's predictions, made before its labels; NaN if not defined."),
		illicitF1: gauge("lethe_prequential_illicit_f1_ratio",
			"F1 of the class illicit of one timestep's predictions, made before its labels; NaN if not defined."),
		calibration: gauge("lethe_prequential_calibration_error_ratio",
			"Expected calibration error of one timestep's probabilities, made before its labels; NaN if not defined."),
		psi: gauge("lethe_score_drift_psi",
			"Population stability index of the last timestep's scores beside those since the process began; NaN for none."),
	}
	m.psi.Set(math.NaN())
	for _, reason := range texts(events.TrainReasons()) {
		m.train.WithLabelValues(reason)
	}
	m.ensemble.Set(float64(lethe.NoTimestep))
	m.quality(events.QualityMeasured{
		Timestep: lethe.NoTimestep, AUC: math.NaN(), MacroF1: math.NaN(), IllicitF1: math.NaN(),
		CalibrationError: math.NaN(),
	})
	return m
}

func (m *modelMetrics) listener() events.Listener {
	return events.Listener{
		ShardTrained: func(e events.ShardTrained) {
			reason := within(string(e.Reason), texts(events.TrainReasons()))
			m.train.WithLabelValues(reason).Observe(e.Duration.Seconds())
			m.steps.WithLabelValues(reason).Add(float64(max(0, e.Steps)))
		},
		EnsembleSwapped: func(e events.EnsembleSwapped) {
			m.ensemble.Set(float64(e.Timestep))
			m.serves(e.Version)
		},
		SnapshotScored: func(e events.SnapshotScored) {
			m.scoring.Observe(e.Duration.Seconds())
			m.predictions.WithLabelValues("illicit").Add(float64(e.IllicitCount))
			m.predictions.WithLabelValues("licit").Add(float64(len(e.Illicit) - e.IllicitCount))
			for _, p := range e.Illicit {
				m.score.Observe(p)
			}
			m.drifts(e.Illicit)
		},
		ReasonsOwed: func(e events.ReasonsOwed) { m.reasons.Set(float64(e.Alerts)) },
		ProvisionallyScored: func(e events.ProvisionallyScored) {
			m.provisional.Add(float64(e.Predictions))
			for _, d := range e.Delays {
				m.delay.Observe(d.Seconds())
			}
		},
		QualityMeasured: m.quality,
	}
}

// serves keeps a single series for the current version; otherwise one would remain for every
// version ever served.
func (m *modelMetrics) serves(version lethe.Digest) {
	m.versionMu.Lock()
	defer m.versionMu.Unlock()
	m.version.Reset()
	m.version.WithLabelValues(version.String()[:12]).Set(1)
}

func (m *modelMetrics) quality(e events.QualityMeasured) {
	m.qualityTimestep.Set(float64(e.Timestep))
	m.auc.Set(e.AUC)
	m.macroF1.Set(e.MacroF1)
	m.illicitF1.Set(e.IllicitF1)
	m.calibration.Set(e.CalibrationError)
}

// drifts compares a timestep's scores with those of earlier timesteps.
func (m *modelMetrics) drifts(scores []float64) {
	m.driftMu.Lock()
	defer m.driftMu.Unlock()
	var now quality.ScoreCounts
	for _, s := range scores {
		now.Add(s, 1)
	}
	m.psi.Set(now.Drift(m.before))
	m.before.AddAll(now)
}

func (m *modelMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.train, m.steps, m.ensemble, m.version, m.scoring, m.predictions, m.score,
		m.reasons, m.provisional, m.delay,
		m.qualityTimestep, m.auc, m.macroF1, m.illicitF1, m.calibration, m.psi,
	}
}
