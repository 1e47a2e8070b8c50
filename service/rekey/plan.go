package rekey

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/configs"
	"lethe/deletions/disk"
	"lethe/internal/diskroom"
	"lethe/pipeline/score"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/snapshot"
)

// ErrRefused marks a directory that is not rotated. Nothing was changed, and the text gives the
// remedy.
var ErrRefused = errors.New("the secret is not rotated")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// Plan describes a rotation. The JSON names are part of the command line.
type Plan struct {
	DataDir string `json:"data_dir"`
	// New is the directory to build, and Kept the later path of the original.
	New  string `json:"new_dir"`
	Kept string `json:"kept_dir"`
	// Secret identifies the current secret.
	Secret string `json:"secret"`
	// Resumes is the phase of an interrupted rotation that would be resumed.
	Resumes string `json:"resumes,omitempty"`
	// Bytes is the size of the directory. About as many are needed in addition; FreeBytes are
	// available, 0 if that is unknown.
	Bytes     int64  `json:"bytes"`
	FreeBytes uint64 `json:"free_bytes"`
	// Timesteps, Transactions and Trained count what is rebuilt.
	Timesteps    service.TimestepCounts `json:"timesteps"`
	Transactions int                    `json:"transactions"`
	Trained      lethe.Timestep         `json:"trained_through"`
	// Requests are those of the ledger, which keep its secret.
	Requests int `json:"requests"`

	secret lethe.Secret
}

// plan determines what would be done. It opens the stores, which no other process may be using.
func (r Rotate) plan(ctx context.Context) (p Plan, err error) {
	c := r.Config
	p = Plan{DataDir: c.DataDir, New: r.newDir(), Kept: r.keptDir(), Trained: lethe.NoTimestep}
	if err := r.refusals(ctx); err != nil {
		return p, err
	}
	if p.secret, err = configs.KeysOf(c).Secret(ctx); err != nil {
		return p, err
	}
	p.Secret = wire.SecretCheck(p.secret)
	if n, found, err := readNote(p.New); err != nil || found && n.From != c.DataDir {
		return p, errors.Join(err, refuse("%s is of a rotation of %s: remove it", p.New, n.From))
	} else if found {
		p.Resumes = string(n.Phase)
	} else if _, err := os.Stat(p.New); err == nil {
		return p, refuse("%s is there, and no rotation has made it: move it away", p.New)
	}
	if err := p.measure(); err != nil {
		return p, err
	}
	if err := p.takeGraphs(c); err != nil {
		return p, err
	}
	return p, p.takeLedger(c, r.Now())
}

// refusals are the reasons for a rejection that do not depend on the content of the stores.
func (r Rotate) refusals(ctx context.Context) error {
	c := r.Config
	if !c.UsesEmbeddedBroker() {
		return refuse("it is built for the embedded broker: on brokers of others the topics of a deployment hold " +
			"pseudonyms too. Begin a deployment with another kafka.topic_prefix, a secret of its own and empty data " +
			"directories, have producers write to both until it has caught up, and retire the one before " +
			"(docs/operations.md, Another secret)")
	}
	if c.SecretFile != "" {
		return refuse("secret_file is %s, outside of the data directory, where it cannot be replaced together with it: "+
			"move it to keys/secret of the data directory and take the setting away", c.SecretFile)
	}
	if c.SigningKeyFile != "" {
		return refuse("signing_key_file is %s, outside of the data directory: move it to keys/receipt-ed25519.pem of the "+
			"data directory, its public key beside it, and take the setting away", c.SigningKeyFile)
	}
	for _, role := range []string{configs.RoleGraphs, configs.RoleErasure, configs.RoleTrain, configs.RoleScore} {
		if !c.HasRole(role) {
			return refuse("roles leaves %s out: one process has to play all of them", role)
		}
	}
	if _, err := os.Stat(filepath.Join(c.DataDir, service.RestoringName)); err == nil {
		return refuse("a backup was put back into %s and that was not finished: remove the folder", c.DataDir)
	}
	if _, err := os.Stat(configs.InstancePath(c.DataDir)); err != nil {
		return refuse("%s is no data directory that lethe run has begun: name one with --data-dir", c.DataDir)
	}
	if err := r.cannotSwap(); err != nil {
		return err
	}
	before, err := configs.KeysOf(c).Before(ctx)
	if err != nil {
		return err
	}
	if before != nil {
		return refuse("the signing key was rotated, and the new one is not introduced yet: start lethe run once")
	}
	if _, err := os.Stat(r.keptDir()); err == nil {
		return refuse("%s is there, as a rotation that has ended leaves it (lethe verify looks at what that made): "+
			"to rotate once more, move it away, or remove it", r.keptDir())
	}
	return nil
}

// cannotSwap rejects a directory that cannot be replaced by renaming: otherwise the failure would occur only after
// the rebuild, or the kept original, which is to be destroyed, would be a link.
func (r Rotate) cannotSwap() error {
	dir := r.Config.DataDir
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return err
		}
		return refuse("%s is a link: name the folder that it leads to, %s", dir, to)
	}
	same, err := diskroom.Same(dir, filepath.Dir(dir))
	if errors.Is(err, diskroom.ErrUnknown) {
		return nil
	}
	if err == nil && !same {
		err = refuse("something is mounted at %s, which cannot be renamed: move what is in it into a folder of its own "+
			"there, and name that", dir)
	}
	return err
}

func (p *Plan) measure() error {
	err := filepath.WalkDir(p.DataDir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			p.Bytes += info.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	room, err := diskroom.Of(filepath.Dir(p.DataDir))
	if errors.Is(err, diskroom.ErrUnknown) {
		return nil
	}
	if p.FreeBytes = room.FreeBytes; err == nil && room.FreeBytes < uint64(p.Bytes) {
		err = refuse("%s has %d bytes and is made anew beside itself, %d are free: make room", p.DataDir, p.Bytes,
			room.FreeBytes)
	}
	return err
}

// takeGraphs counts what has to be rebuilt.
func (p *Plan) takeGraphs(c configs.Config) (err error) {
	dir := filepath.Join(service.RoleDir(c.DataDir, configs.RoleBuild), "snapshots")
	if _, err := os.Stat(dir); err != nil {
		return refuse("%s is missing: start lethe run, which makes it again", dir)
	}
	store, err := snapshot.Open(dir, snapshot.Options{
		Config: c.Ingest.Config, Secret: p.secret, FS: vfs.Default,
		TransactionPartitions: c.Kafka.Partitions, LabelPartitions: c.Kafka.Partitions,
	})
	if err != nil {
		return fmt.Errorf("graphs: %w (give the configuration that the directory was written with)", err)
	}
	for _, info := range store.Timesteps() {
		switch info.State {
		case lethe.Open:
			p.Timesteps.Open++
		case lethe.Closed:
			p.Timesteps.Closed++
		default:
			p.Timesteps.Settled++
		}
		p.Transactions += info.Nodes
	}
	if err := store.Close(); err != nil {
		return err
	}
	layout, err := c.Layout()
	if err != nil {
		return err
	}
	over, err := c.MetaConfig()
	if err != nil {
		return err
	}
	served, err := score.ReadServed(vfs.Default, service.RoleDir(c.DataDir, configs.RoleScore), layout, over)
	if err != nil {
		return err
	}
	p.Trained = served.Through
	return nil
}

// takeLedger rejects a ledger with open requests, which name pseudonyms, or with holds of subjects,
// which are stored as pseudonyms.
func (p *Plan) takeLedger(c configs.Config, now time.Time) (err error) {
	ledger, store, err := disk.OpenLedger(vfs.Default, service.RoleDir(c.DataDir, configs.RoleBuild), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	open, err := ledger.Open()
	if err != nil {
		return err
	}
	if len(open) > 0 {
		return refuse("%d requests are under way (the first is %s): start lethe run until they are verified, or take them "+
			"back with lethe erase cancel", len(open), open[0].RequestID)
	}
	holds, err := ledger.Holds()
	if err != nil {
		return err
	}
	for _, h := range holds {
		if h.InForce(now) && len(h.Subjects) > 0 {
			return refuse("hold %s keeps a subject, which it knows by a pseudonym: lift it (lethe hold lift), rotate, and "+
				"set it again", h.Name)
		}
	}
	list, err := ledger.List()
	p.Requests = len(list)
	return err
}
