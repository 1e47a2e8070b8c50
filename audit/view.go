package audit

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/configs"
	"lethe/pipeline/view"
	"lethe/service"
)

// checkView checks the consistency of the API's data, and searches it for erased data. A missing
// directory is rebuilt from the topics when the role starts.
func checkView(inv *inventory, r *Report) error {
	c, role := inv.config, configs.RoleView
	var erased []lethe.Digest
	for _, e := range inv.done {
		erased = append(erased, e.Targets...)
	}
	dir, fsys := service.RoleDir(c.DataDir, role), service.RemediedFS(vfs.Default, c.DataDir, role)
	content, err := view.ReadContent(fsys, dir, inv.secret, erased)
	if absent(err) {
		return nil
	}
	if err != nil {
		return opening(err, c.DataDir, role)
	}
	for _, problem := range content.Problems {
		r.problem("%s: %s", problem, service.Remedy(c.DataDir, role))
	}
	return nil
}
