package configs

import "slices"

// The roles of a process. Erasures are carried out in the process of the graphs, whose stores they
// rewrite, so that a process runs both roles or neither.
const (
	RoleGraphs  = "graphs"
	RoleErasure = "erasure"
	RoleTrain   = "train"
	RoleScore   = "score"
	// RoleView stores the data of the API.
	RoleView = "view"
	// RoleBuild is the common name of graphs and erasure, and of their directory.
	RoleBuild = "build"
)

// roles lists them.
func roles() []string { return []string{RoleGraphs, RoleErasure, RoleTrain, RoleScore, RoleView} }

// Plays lists the roles of the process, with build expanded to its two roles.
func (c Config) Plays() []string {
	var list []string
	for _, r := range roles() {
		old := r == RoleGraphs || r == RoleErasure
		if slices.Contains(c.Roles, r) || old && slices.Contains(c.Roles, RoleBuild) {
			list = append(list, r)
		}
	}
	return list
}

// HasRole reports whether the process runs the role.
func (c Config) HasRole(role string) bool { return slices.Contains(c.Plays(), role) }
