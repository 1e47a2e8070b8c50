package main

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// notInService are the packages, with all below them, that experiments need and
// the service does not: the evaluation, plots with their fonts and image formats,
// and the container of the npz format.
func notInService() []string {
	return []string{
		"lethe/lab", "gonum.org/v1/plot", "codeberg.org/go-fonts", "codeberg.org/go-latex", "codeberg.org/go-pdf",
		"git.sr.ht/~sbinet/gg", "github.com/golang/freetype", "github.com/ajstarks/svgo", "golang.org/x/image",
		"image/png", "image/jpeg", "image/gif", "archive/zip",
	}
}

// below returns the entries of a list of packages that are one of notInService or
// lie below it, by that name.
func below(packages []string) map[string][]string {
	out := make(map[string][]string)
	for _, p := range packages {
		for _, denied := range notInService() {
			if p == denied || strings.HasPrefix(p, denied+"/") {
				out[denied] = append(out[denied], p)
			}
		}
	}
	return out
}

func dependencies(t *testing.T, command string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", command).Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

func TestServiceLinksNoExperiments(t *testing.T) {
	require.Empty(t, below(dependencies(t, "lethe/cmd/lethe")))
	// What nothing links would be a name that has changed: the test could not fail.
	found := below(dependencies(t, "lethe/lab/cmd/lethe-lab"))
	for _, denied := range notInService() {
		require.NotEmpty(t, found[denied], "lethe-lab links no %s: is its name still right?", denied)
	}
}

// The stripped binary, as the image holds it, but for -trimpath, which would
// compile everything again and changes nothing but the names of files in it.
func TestServiceIsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("links the binary")
	}
	// Without the experiments; the log, audits, receipts that others check, SCRAM, groups, the view, the API, OpenID
	// Connect, webhooks, OpenDSR, the console (0.25 MB) and OpenTelemetry (3.7 MB, most of it the gRPC that the messages'
	// package links) are in it.
	const most = 52_000_000.
	bin := filepath.Join(t.TempDir(), "lethe")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "go build: %s", out)
	info, err := os.Stat(bin)
	require.NoError(t, err)
	require.Less(t, float64(info.Size()), most, "bytes of the stripped binary")
	t.Logf("%.1f MB", float64(info.Size())/1e6)

	linked, err := buildinfo.ReadFile(bin)
	require.NoError(t, err)
	require.NotEmpty(t, linked.Deps)
	var modules []string
	for _, m := range linked.Deps {
		modules = append(modules, m.Path)
	}
	require.Empty(t, below(modules), "modules in the binary")
}
