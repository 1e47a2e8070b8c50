package audit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe/configs"
	"lethe/deletions/disk"
	"lethe/deletions/receipt"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/internal/atomicfile"
	"lethe/internal/swapstore"
	"lethe/service"
)

// LogOptions selects a transparency log to check, and the reference to check it against.
type LogOptions struct {
	Config configs.Config
	// TopicOnly reads only log.v1 and not the data directory.
	TopicOnly bool
	// Key must have signed the log's checkpoints; nil means the key of the data directory.
	Key ed25519.PublicKey
	// Older is a signed checkpoint that was stored elsewhere, or empty.
	Older string
	// Receipts are files of receipts that must be in the log.
	Receipts []string
	// File is a log in the output format of lethe log show --json, or empty: it is read in place
	// of data directory and topic.
	File string
}

// CheckLog checks the transparency log of a data directory, of its topic, or both. The error is for data that could
// not be read; failed checks are in the report.
func CheckLog(ctx context.Context, o LogOptions) (*translog.Report, error) {
	e, err := gather(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, name := range o.Receipts {
		data, err := atomicfile.Read(name, receipt.MaxBytes)
		if err != nil {
			return nil, fmt.Errorf("receipt: %w", err)
		}
		issued, err := IssuedReceipt(name, data)
		if err != nil {
			return nil, err
		}
		e.Receipts = append(e.Receipts, issued)
	}
	return translog.Verify(e), nil
}

// ReadLog reads the log of a data directory, or of its topic, without checking it.
func ReadLog(ctx context.Context, o LogOptions) (translog.Copy, error) {
	e, err := gather(ctx, o)
	if err == nil && e.Stored != nil {
		return *e.Stored, nil
	}
	if err == nil && e.Published != nil {
		return *e.Published, nil
	}
	return translog.Copy{}, err
}

// gather reads the log from the selected sources.
func gather(ctx context.Context, o LogOptions) (e translog.Evidence, err error) {
	e.Key, e.Older = o.Key, o.Older
	if o.File != "" {
		published, err := readLogFile(o.File)
		e.Published = &published
		return e, err
	}
	if !o.TopicOnly {
		if err := gatherStored(ctx, o.Config, &e); err != nil {
			return e, err
		}
	}
	if e.Key == nil {
		return e, errors.New("no key is known that must have signed the log: name it with --public-key")
	}
	read := func(client *bus.Client) error {
		published, err := translog.ReadPublished(ctx, client)
		e.Published = &published
		return err
	}
	if o.Config.UsesEmbeddedBroker() {
		return e, withLog(o.Config, read)
	}
	client, err := bus.Open(o.Config.Kafka)
	if err != nil {
		return e, err
	}
	return e, errors.Join(read(client), client.Close())
}

func gatherStored(ctx context.Context, c configs.Config, e *translog.Evidence) (err error) {
	for _, file := range []string{c.SecretPath(), c.SigningKeyPath()} {
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("%w (is %s a data directory of the erasure role? name it with --data-dir)", err, c.DataDir)
		}
	}
	secret, err := configs.KeysOf(c).Secret(ctx)
	if err != nil {
		return err
	}
	e.Origin = translog.Name(secret.Deployment(c.Kafka.TopicPrefix).String())
	if e.Key == nil {
		if e.Key, err = ownKey(ctx, c); err != nil {
			return err
		}
	}
	fsys := service.RemediedFS(vfs.Default, c.DataDir, configs.RoleGraphs)
	ledger, store, err := disk.OpenLedger(fsys, service.RoleDir(c.DataDir, configs.RoleBuild), nil)
	if errors.Is(err, swapstore.ErrInUse) {
		return fmt.Errorf("%w, or read the topic alone while it runs: "+
			"give --brokers and --public-key, and no --data-dir", err)
	}
	if err != nil {
		return opening(err, c.DataDir, configs.RoleGraphs)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if e.Ledger, err = ledger.List(); err != nil {
		return err
	}
	if e.Holds, err = ledger.Holds(); err != nil {
		return err
	}
	stored, err := translog.ReadStored(disk.KV(store))
	e.Stored = &stored
	return err
}

// ownKey is the public key of a data directory with a signing key: the log is signed with it. A
// replacement of the key is in the log only after the next start.
func ownKey(ctx context.Context, c configs.Config) (ed25519.PublicKey, error) {
	key, err := configs.KeysOf(c).Before(ctx)
	if err == nil && key == nil {
		key, err = configs.KeysOf(c).SigningKey(ctx)
	}
	if err != nil {
		return nil, err
	}
	return key.Public().(ed25519.PublicKey), nil
}

// checkLog checks the log as part of an audit. published is nil if the topic cannot be read here.
func checkLog(ctx context.Context, inv *inventory, r *Report, published *translog.Copy) error {
	if _, err := os.Stat(inv.config.SigningKeyPath()); err != nil {
		return nil //nolint:nilerr // checkKeys reports the missing key
	}
	key, err := ownKey(ctx, inv.config)
	if err != nil {
		return err
	}
	if len(inv.log.Leaves) == 0 && inv.log.Checkpoint == "" && !begunWithLog(published) {
		return nil // the next start of this version creates it
	}
	e := translog.Evidence{
		Origin: translog.Name(inv.secret.Deployment(inv.config.Kafka.TopicPrefix).String()), Key: key,
		Stored: &inv.log, Published: published, Ledger: inv.entries, Holds: inv.holds,
	}
	logged := inv.log.Receipts()
	for _, entry := range inv.done {
		name := filepath.Join(service.ReceiptsDir(inv.config.DataDir), entry.RequestID+".json")
		data, kept := inv.receipts[entry.RequestID]
		if !kept || !logged[entry.Digest] {
			continue // reported by checkReceipts, or issued before there was a log
		}
		issued, err := IssuedReceipt(name, data)
		if err != nil {
			r.problem("%v", err)
			continue
		}
		e.Receipts = append(e.Receipts, issued)
	}
	for _, refusal := range translog.Verify(e).Refused {
		r.problem("%v", refusal)
	}
	return nil
}

func begunWithLog(published *translog.Copy) bool {
	return published != nil && (len(published.Leaves) > 0 || published.Checkpoint != "")
}
