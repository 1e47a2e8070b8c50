package metrics_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"lethe/metrics"
)

const deployFolder = "../deploy"

// exported maps every series name that a scrape of lethe yields to its labels.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	ours := newProcess(t)
	ours.everything()
	runtime := metrics.NewRegistry()
	families, err := prometheus.Gatherers{ours.registry, runtime}.Gather()
	require.NoError(t, err)
	names := map[string][]string{}
	for _, family := range families {
		var labels []string
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName())
			}
		}
		// Prometheus adds these when it scrapes.
		labels = append(labels, "job", "instance")
		name := family.GetName()
		if family.GetMetric()[0].GetHistogram() == nil {
			names[name] = labels
			continue
		}
		names[name+"_bucket"] = append(slices.Clone(labels), "le")
		names[name+"_sum"], names[name+"_count"] = labels, labels
	}
	return names
}

// requireExported fails unless an expression asks for at least one metric, and
// only for metrics and labels that exist.
func requireExported(t *testing.T, names map[string][]string, expression, where string) {
	t.Helper()
	u := usedBy(expression)
	require.NotEmpty(t, u.metrics, "%s: %s", where, expression)
	var labels []string
	for _, name := range u.metrics {
		require.Contains(t, slices.Sorted(maps.Keys(names)), name, "%s: %s", where, expression)
		labels = append(labels, names[name]...)
	}
	for _, label := range u.labels {
		require.Contains(t, labels, label, "%s: %s", where, expression)
	}
}

type dashboard struct {
	ID         any    `json:"id"`
	UID        string `json:"uid"`
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
	Panels []struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H int }
		Datasource               struct{ Type, UID string }
		Targets                  []struct {
			Expr       string
			Datasource struct{ Type, UID string }
		}
	}
}

// readDashboards returns all of them, by their files.
func readDashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(deployFolder, "grafana/dashboards/*.json"))
	require.NoError(t, err)
	out := make(map[string]dashboard)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		var d dashboard
		require.NoError(t, json.Unmarshal(content, &d), file)
		out[filepath.Base(file)] = d
	}
	return out
}

func TestDashboardsUseOnlyExportedMetrics(t *testing.T) {
	names := exported(t)
	names["up"] = []string{"job", "instance"} // Prometheus's own
	shown := map[string]bool{}
	for file, d := range readDashboards(t) {
		for _, panel := range d.Panels {
			for _, target := range panel.Targets {
				requireExported(t, names, target.Expr, file+": "+panel.Title)
				for _, name := range usedBy(target.Expr).metrics {
					shown[name] = true
				}
			}
		}
	}
	for name := range names {
		if !strings.HasPrefix(name, "lethe_") || strings.HasSuffix(name, "_sum") || strings.HasSuffix(name, "_count") {
			continue
		}
		if name != "lethe_prequential_timestep" {
			require.True(t, shown[name], "%s is on no panel", name)
		}
	}
}

func TestDashboardsAreSound(t *testing.T) {
	uids := make(map[string]string)
	for file, d := range readDashboards(t) {
		uids[d.UID] = file
		t.Run(file, func(t *testing.T) { requireSound(t, d) })
	}
	require.Equal(t, map[string]string{
		"lethe-overview": "lethe.json", "lethe-pipeline": "lethe-pipeline.json", "lethe-model": "lethe-model.json",
		"lethe-compliance": "lethe-compliance.json",
	}, uids)
}

func requireSound(t *testing.T, d dashboard) {
	t.Helper()
	require.Nil(t, d.ID, "Grafana gives it one")
	require.Len(t, d.Templating.List, 1)
	require.Equal(t, "datasource", d.Templating.List[0].Name)
	require.Equal(t, "prometheus", d.Templating.List[0].Query)
	ids := map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range d.Panels {
		require.NotEmpty(t, p.Title)
		require.False(t, ids[p.ID], p.Title)
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.Less(t, x, 24, p.Title)
				require.Empty(t, taken[[2]int{x, y}], "%s lies over another panel", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		require.NotEmpty(t, p.Description, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		require.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
		for _, target := range p.Targets {
			require.Equal(t, "${datasource}", target.Datasource.UID, p.Title)
		}
	}
}

type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

func TestRulesUseOnlyExportedMetrics(t *testing.T) {
	var r rules
	readYAML(t, filepath.Join(deployFolder, "prometheus/rules.yml"), &r)
	names := exported(t)
	names["up"] = []string{"job", "instance"}
	seen := map[string]bool{}
	for _, group := range r.Groups {
		for _, rule := range group.Rules {
			requireExported(t, names, rule.Expr, rule.Alert)
			require.Contains(t, []string{"page", "ticket"}, rule.Labels["severity"], rule.Alert)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			require.NotEmpty(t, rule.Annotations["description"], rule.Alert)
			require.False(t, seen[rule.Alert], rule.Alert)
			seen[rule.Alert] = true
		}
	}
	require.NotEmpty(t, seen)
}

// Every alert leads to its section of the operator's page, and every section there is of an alert.
func TestAlertsHaveRunbooks(t *testing.T) {
	const page = "docs/operations.md"
	var r rules
	readYAML(t, filepath.Join(deployFolder, "prometheus/rules.yml"), &r)
	text, err := os.ReadFile(filepath.Join("..", page))
	require.NoError(t, err)
	var alerts, sections []string
	for _, group := range r.Groups {
		for _, rule := range group.Rules {
			alerts = append(alerts, rule.Alert)
			require.Equal(t, page+"#"+strings.ToLower(rule.Alert), rule.Annotations["runbook"])
		}
	}
	_, about, _ := strings.Cut(string(text), "\n## Alerts\n")
	about, _, _ = strings.Cut(about, "\n## ")
	for line := range strings.Lines(about) {
		if name, found := strings.CutPrefix(line, "### "); found {
			sections = append(sections, strings.TrimSpace(name))
		}
	}
	require.ElementsMatch(t, alerts, sections)
}

// Prometheus's own tool runs the rules' tests and reads the configuration.
func TestRulesWithPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	for _, args := range [][]string{
		{"test", "rules", "rules.test.yml"},
		{"check", "config", "prometheus.yml"},
	} {
		command := exec.CommandContext(t.Context(), promtool, args...)
		command.Dir = filepath.Join(deployFolder, "prometheus")
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(content, into), path)
}
