package rekey

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/configs"
	"lethe/deletions/disk"
	"lethe/internal/diskroom"
	"lethe/pipeline/wire"
	"lethe/service"
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
	// New is the new directory, created beside it.
	New string `json:"new_dir"`
	// Secret identifies the secret in use.
	Secret string `json:"secret"`
	// Bytes is the size of the directory. The new one needs about as much; FreeBytes are free there, 0 if unknown.
	Bytes     int64  `json:"bytes"`
	FreeBytes uint64 `json:"free_bytes"`
	// Requests are those of the ledger, which are copied.
	Requests int `json:"requests"`

	secret lethe.Secret
}

// Plan returns what a rotation would do, and changes nothing. It opens the ledger, which no other process may use.
// Errors: ErrRefused.
func (r Rotate) Plan(ctx context.Context) (p Plan, err error) {
	p = Plan{DataDir: r.Config.DataDir, New: r.To}
	if err := r.refusals(ctx); err != nil {
		return p, err
	}
	if p.secret, err = configs.KeysOf(r.Config).Secret(ctx); err != nil {
		return p, err
	}
	p.Secret = wire.SecretCheck(p.secret)
	if err := p.measure(); err != nil {
		return p, err
	}
	return p, p.takeLedger(r.Config, r.Now())
}

// refusals are the reasons for a rejection that do not depend on the content of the stores.
func (r Rotate) refusals(ctx context.Context) error {
	c := r.Config
	if !c.UsesEmbeddedBroker() {
		return refuse("it is built for the embedded broker: on brokers of others the topics of a deployment hold " +
			"pseudonyms too. Begin a deployment with another kafka.topic_prefix, a secret of its own and empty data " +
			"directories, have producers write to both until it has caught up, and retire the one before " +
			"(docs/keys.md, Another secret)")
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
	if err := service.CheckFinished(c.DataDir); err != nil {
		return refuse("%v", err)
	}
	if _, err := os.Stat(configs.InstancePath(c.DataDir)); err != nil {
		return refuse("%s is no data directory that lethe run has begun: name one with --data-dir", c.DataDir)
	}
	before, err := configs.KeysOf(c).Before(ctx)
	if err != nil {
		return err
	}
	if before != nil {
		return refuse("the signing key was rotated, and the new one is not introduced yet: start lethe run once")
	}
	if _, err := os.Stat(r.To); err == nil {
		return refuse("%s is there: remove it, or name another folder with --to", r.To)
	}
	return nil
}

// measure compares the room that is needed with the room that is left.
func (p *Plan) measure() error {
	sizes, err := diskroom.SizesOf(p.DataDir)
	if err != nil {
		return err
	}
	for _, size := range sizes {
		p.Bytes += size
	}
	room, err := diskroom.Of(filepath.Dir(p.New))
	if errors.Is(err, diskroom.ErrUnknown) {
		return nil
	}
	if p.FreeBytes = room.FreeBytes; err == nil && room.FreeBytes < uint64(p.Bytes) {
		err = refuse("%s has %d bytes and %s needs about as many, %d are free there: make room", p.DataDir, p.Bytes, p.New,
			room.FreeBytes)
	}
	return err
}

// takeLedger refuses unsettled entries: an open request contains pseudonyms, and a hold of a subject identifies it by
// one.
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
