package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions/scan"
)

// An operator has to look at what lethe does not remove, such as another deployment's topic in the broker's folder.
func TestFindingsNameFiles(t *testing.T) {
	hit := func(path string) scan.FileHit { return scan.FileHit{Path: path, Hit: scan.Hit{Kind: scan.KindBytes}} }
	f, all := newFindings(), newFindings()
	f.place(BrokerFolder, scan.Report{Hits: []scan.FileHit{
		hit("log/partitions/ext.transactions.v1-0/0.dat"), hit("log/groups.log"),
		hit("log/partitions/ext.transactions.v1-0/0.dat"),
	}})
	all.add(f)
	require.Equal(t, []string{"broker/log/partitions/ext.transactions.v1-0/0.dat"}, all.Files)
}
