package configs

import "slices"

// The roles a process can play. Erasures are carried out in the process of the graphs, whose
// stores they rewrite, so that a process plays both or neither.
const (
	RoleGraphs  = "graphs"
	RoleErasure = "erasure"
	RoleTrain   = "train"
	RoleScore   = "score"
	// RoleView keeps what the API answers with.
	RoleView = "view"
	// RoleBuild is what graphs and erasure together were called, and their folder
	// still is.
	RoleBuild = "build"
)

// roles lists them.
func roles() []string { return []string{RoleGraphs, RoleErasure, RoleTrain, RoleScore, RoleView} }

// Plays lists the roles of the process, build as the two that it stands for.
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

// HasRole reports whether the process plays the role.
func (c Config) HasRole(role string) bool { return slices.Contains(c.Plays(), role) }
