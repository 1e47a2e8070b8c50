package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/internal/diskroom"
	"lethe/scoring/quality"
	"lethe/service"
)

// Options configures a demo.
type Options struct {
	Config configs.Config
	// Stream is sent; its features are nil afterwards.
	Stream  *dataset.Stream
	Version string
	// Progress is called with progress messages.
	Progress func(format string, args ...any)
	// Reached is called with the message of each completed stage, none of which should be omitted.
	Reached func(format string, args ...any)
	Logger  *slog.Logger
}

// Result is the output of lethe demo --json. The names are part of the command line.
type Result struct {
	Dataset      string          `json:"dataset"`
	Timesteps    int             `json:"timesteps"`
	Transactions int             `json:"transactions"`
	Payments     int             `json:"payments"`
	Predictions  int             `json:"predictions"`
	Test         quality.Summary `json:"test"`
	// TestTimesteps are the first and the last timestep of Test.
	TestTimesteps [2]lethe.Timestep `json:"test_timesteps"`
	Erasures      []Erasure         `json:"erasures"`
	EnsembleHash  string            `json:"ensemble_hash"`
	DataDir       string            `json:"data_dir"`
	// DataDirBytes is the size of the files in it, DiskBytes by owner: a role, or the embedded broker.
	DataDirBytes int64            `json:"data_dir_bytes"`
	DiskBytes    map[string]int64 `json:"disk_bytes"`
	Seconds      float64          `json:"seconds"`
	// ReplaySeconds are from the first record to the last prediction, model and reasons; ReplayCPUSeconds is the processor
	// time of the process in them.
	ReplaySeconds    float64              `json:"replay_seconds"`
	ReplayCPUSeconds float64              `json:"replay_cpu_seconds"`
	Audit            *audit.Report        `json:"audit"`
	Steps            []service.StepStatus `json:"steps"`
}

// Erasure is the result of one request.
type Erasure struct {
	RequestID       string                `json:"request_id"`
	Nodes           []lethe.TransactionID `json:"nodes"`
	State           deletions.State       `json:"state"`
	Scope           lethe.Scope           `json:"scope"`
	SlicesReplaced  int                   `json:"slices_replaced"`
	ShardsRetrained int                   `json:"shards_retrained"`
	// GroupsRefitted are the groups of every component whose models were retrained.
	GroupsRefitted []deletions.RefittedGroups `json:"groups_refitted"`
	// Seconds is the time from the request to the verified receipt, RetrainAllSeconds that of
	// retraining every model on the same machine.
	Seconds           float64 `json:"seconds"`
	RetrainAllSeconds float64 `json:"retrain_all_seconds"`
	Costs
	// Receipt is the path of the signed receipt.
	Receipt string `json:"receipt"`
	// Searched is the extent of the search before the receipt was signed, according to the receipt.
	Searched       Searched `json:"searched"`
	ReceiptValid   bool     `json:"receipt_valid"`
	EnsembleBefore string   `json:"ensemble_before"`
	EnsembleAfter  string   `json:"ensemble_after"`
}

// Searched counts the searched files, and the content of records in topics.
type Searched struct {
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
	Topics  int   `json:"topics"`
	Records int64 `json:"records"`
}

// Run runs the demo. The data directory is left for grep, for lethe verify and for lethe run.
func Run(ctx context.Context, o Options) (*Result, error) {
	started := time.Now()
	totals := o.Stream.Totals()
	result := &Result{
		Dataset: o.Stream.Name, Timesteps: totals.Steps, Transactions: totals.Transactions,
		Payments: totals.Payments, DataDir: o.Config.DataDir, Erasures: []Erasure{},
	}
	if err := drawSecret(o.Config); err != nil {
		return nil, err
	}
	costs := &costMeter{}
	so := service.Defaults(o.Config, o.Version, o.Logger)
	so.Listener = costs.listener()
	up, err := service.New(ctx, so)
	if err != nil {
		return nil, err
	}
	runCtx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- up.Run(runCtx) }()
	s := &scenario{Options: o, service: up, ended: ended, result: result, costs: costs}
	err = s.play(ctx)
	cancel()
	if !s.over {
		err = errors.Join(err, <-ended)
	}
	if err = errors.Join(err, up.Close()); err != nil {
		return nil, err
	}
	if err := s.prove(ctx); err != nil {
		return nil, err
	}
	if result.DiskBytes, err = diskroom.SizesOf(o.Config.DataDir); err != nil {
		return nil, err
	}
	for _, bytes := range result.DiskBytes {
		result.DataDirBytes += bytes
	}
	result.Seconds = time.Since(started).Seconds()
	return result, nil
}

// drawSecret derives the deployment's secret from the seed, so that two demos of one dataset give
// the same hashes. The seed reveals the secret: a data directory of the demo is not for real data.
func drawSecret(c configs.Config) error {
	_, err := configs.LoadOrCreateSecret(c.SecretPath(), randomOf(c.Seed))
	return err
}

// SecretOf is the secret of a demo with a seed, for programs that train the served models offline.
func SecretOf(seed uint64) lethe.Secret {
	var key [lethe.SecretKeyBytes]byte
	_, _ = randomOf(seed).Read(key[:]) // the source is endless
	return lethe.NewSecret(key)
}

func randomOf(seed uint64) keyed { return keyed{lethe.NewDraw(seed, "demo-secret")} }

// keyed reads the bytes of a keyed draw.
type keyed struct{ draw *lethe.Draw }

// Read implements io.Reader.
func (k keyed) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(k.draw.Uint64())
	}
	return len(p), nil
}

// prove checks the data directory once the service has stopped: it retrains every model from its
// slices and compares all bytes.
func (s *scenario) prove(ctx context.Context) error {
	s.Reached("proof: the data directory is searched, and all models are trained anew from their slices")
	proving := pace{reached: []mark{{0, time.Now()}}}
	report, err := audit.Check(ctx, audit.Options{
		Config: s.Config, Fresh: true,
		Progress: func(done, of int) {
			s.Progress("proof: trained %d of %d models anew from their slices%s", done, of, proving.text(done, of, time.Now()))
		},
	})
	if err != nil {
		return err
	}
	s.result.Audit = report
	for i := range s.result.Erasures {
		s.result.Erasures[i].RetrainAllSeconds = report.FreshSeconds
		s.result.Erasures[i].CPUSecondsRetrainAll = report.FreshCPUSeconds
	}
	if !report.OK {
		return fmt.Errorf("the proof failed: %s", report.Problems[0])
	}
	if report.EnsembleHash != s.result.EnsembleHash {
		return fmt.Errorf("the proof failed: the directory holds ensemble %s, served was %s", report.EnsembleHash,
			s.result.EnsembleHash)
	}
	return nil
}

// receiptPath is the file of the receipt of a request.
func receiptPath(c configs.Config, requestID string) string {
	return filepath.Join(service.ReceiptsDir(c.DataDir), requestID+".json")
}
