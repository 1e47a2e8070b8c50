package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/internal/atomicfile"
	"lethe/service"
)

// checkKeys checks that the keys exist, and returns those that sign or have signed receipts, or
// none.
func (inv *inventory) checkKeys(ctx context.Context, r *Report) (trust receipt.Trust) {
	path := inv.config.SigningKeyPath()
	for _, file := range []string{path, configs.PublicKeyPath(path)} {
		if _, err := os.Stat(file); err != nil {
			r.problem("the key %s is missing: put it back from a copy", file)
			return trust
		}
	}
	_, err := configs.KeysOf(inv.config).SigningKey(ctx)
	if err == nil {
		trust, err = pinned(inv.config)
	}
	if err != nil {
		r.problem("%v", err)
	}
	return trust
}

// pinned returns the trust in the keys of a data directory, which must exist.
func pinned(c configs.Config) (trust receipt.Trust, err error) {
	keys, err := configs.ReadPublicKeys(configs.PublicKeyPath(c.SigningKeyPath()))
	if err == nil {
		trust.Keys, trust.Former = keys[:1], keys[1:]
	}
	return trust, err
}

// checkReceipts checks that every verified request has a receipt, that it is signed with the
// deployment's key and agrees with the ledger, and that there are no others.
func (inv *inventory) checkReceipts(r *Report, trust receipt.Trust) error {
	dir := service.ReceiptsDir(inv.config.DataDir)
	own := inv.secret.Deployment(inv.config.Kafka.TopicPrefix)
	inv.receipts = make(map[string][]byte)
	for _, e := range inv.done {
		name := filepath.Join(dir, e.RequestID+".json")
		data, err := atomicfile.Read(name, receipt.MaxBytes)
		if errors.Is(err, fs.ErrNotExist) {
			r.problem("request %s is verified, but its receipt %s is missing: start lethe run, which issues it again",
				e.RequestID, name)
			continue
		}
		if err != nil {
			return fmt.Errorf("receipt: %w", err)
		}
		inv.receipts[e.RequestID] = data
		for _, problem := range receiptProblems(data, trust, own, e) {
			r.problem("receipt %s: %s", name, problem)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("receipts: %w", err)
	}
	for _, file := range files {
		id, isReceipt := strings.CutSuffix(file.Name(), ".json")
		if isReceipt && !slices.ContainsFunc(inv.done, func(e deletions.Entry) bool { return e.RequestID == id }) {
			r.problem("receipt %s is of no request that the ledger knows as verified", filepath.Join(dir, file.Name()))
		}
	}
	return nil
}

// receiptProblems compares a receipt with the keys, its own deployment and the ledger's entry.
func receiptProblems(data []byte, trust receipt.Trust, own lethe.DeploymentID, e deletions.Entry) []string {
	signed, verification, err := receipt.Verify(data, trust)
	if err != nil {
		return []string{err.Error()}
	}
	differ, err := signed.Differences(e)
	if err != nil {
		return []string{err.Error()}
	}
	problems := verification.Problems
	if d := signed.Deployment; !d.IsZero() && d != own {
		problems = append(problems, fmt.Sprintf("deployment: the receipt is of %s, this one is %s", d, own))
	}
	for _, member := range differ {
		problems = append(problems, member+" is not what the ledger says")
	}
	return problems
}
