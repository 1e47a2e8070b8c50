// Package compose holds docker-compose.yml to what lethe, Prometheus and Grafana need of it.
package compose_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"lethe/configs"
)

const repository = "../.."

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(content, into), path)
}

func loadCompose(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{repository + "/docker-compose.yml"})
	require.NoError(t, err)
	project, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	return project
}

func TestComposeBringsEverything(t *testing.T) {
	project := loadCompose(t)
	require.ElementsMatch(t, []string{"kafka", "lethe", "prometheus", "grafana"}, project.ServiceNames())
	for _, service := range project.Services {
		require.NotRegexp(t, `:latest$`, service.Image, "an image that changes by itself")
		require.Contains(t, service.Image, ":", service.Name)
		for _, port := range service.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, "%s is open to the network", service.Name)
		}
		for _, volume := range service.Volumes {
			if volume.Type == types.VolumeTypeBind {
				_, err := os.Stat(volume.Source)
				require.NoError(t, err, "%s mounts what is not there", service.Name)
				require.True(t, volume.ReadOnly, volume.Source)
			}
		}
	}
	_, err := os.Stat(filepath.Join(project.Services["lethe"].Build.Context, "Dockerfile"))
	require.NoError(t, err)
}

// The environment of the container, from image and compose file, is one that
// lethe takes.
func TestComposeConfiguresLethe(t *testing.T) {
	image, err := os.ReadFile(repository + "/Dockerfile")
	require.NoError(t, err)
	environ := regexp.MustCompile(`\bLETHE_[A-Z_]+=\S+`).FindAllString(string(image), -1)
	require.NotEmpty(t, environ)
	service := loadCompose(t).Services["lethe"]
	for name, value := range service.Environment {
		environ = append(environ, name+"="+*value)
	}
	require.Len(t, service.Command, 3)
	require.Equal(t, []string{"run", "--brokers"}, []string(service.Command[:2]))
	c, err := configs.Load(configs.LoadOptions{
		Environ: environ, Overrides: map[string]any{"kafka.brokers": service.Command[2]},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"kafka:9092"}, c.Kafka.Brokers)

	port := c.HTTP.Address[strings.LastIndexByte(c.HTTP.Address, ':')+1:]
	require.Equal(t, port, fmt.Sprint(service.Ports[0].Target))
	require.True(t, strings.HasPrefix(c.HTTP.Address, "0.0.0.0:"), "Prometheus could not reach it")
	folders := make([]string, 0, len(service.Volumes))
	for _, volume := range service.Volumes {
		folders = append(folders, volume.Target)
	}
	require.Contains(t, folders, c.DataDir, "the data would be lost with the container")

	var prometheus struct {
		ScrapeConfigs []struct {
			JobName       string `yaml:"job_name"`
			StaticConfigs []struct {
				Targets []string
			} `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, filepath.Join(repository, "deploy/prometheus/prometheus.yml"), &prometheus)
	require.Equal(t, "lethe", prometheus.ScrapeConfigs[0].JobName, "the rules name this job")
	require.Equal(t, []string{"lethe:" + port}, prometheus.ScrapeConfigs[0].StaticConfigs[0].Targets)
}

func TestComposeProvisionsGrafana(t *testing.T) {
	project := loadCompose(t)
	var sources struct {
		Datasources []struct {
			Type, URL string
			IsDefault bool `yaml:"isDefault"`
		}
	}
	readYAML(t, filepath.Join(repository, "deploy/grafana/provisioning/datasources/prometheus.yml"), &sources)
	require.Len(t, sources.Datasources, 1)
	require.True(t, sources.Datasources[0].IsDefault)
	require.Equal(t, fmt.Sprintf("http://prometheus:%d", project.Services["prometheus"].Ports[0].Target),
		sources.Datasources[0].URL)

	var boards struct {
		Providers []struct {
			Type    string
			Options struct{ Path string }
		}
	}
	readYAML(t, filepath.Join(repository, "deploy/grafana/provisioning/dashboards/lethe.yml"), &boards)
	require.Len(t, boards.Providers, 1)
	grafana := project.Services["grafana"]
	found := false
	for _, volume := range grafana.Volumes {
		if volume.Target == boards.Providers[0].Options.Path {
			require.FileExists(t, filepath.Join(volume.Source, "lethe.json"))
			found = true
		}
	}
	require.True(t, found, "no volume holds the dashboards")
	require.Equal(t, boards.Providers[0].Options.Path+"/lethe.json",
		*grafana.Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
}
