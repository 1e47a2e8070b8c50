package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"lethe/configs"
	"lethe/internal/command"
)

// parse fails unless a command line is one of lethe's.
func parse(t *testing.T, args []string, where string) {
	t.Helper()
	parser, err := kong.New(&cli{}, kong.Name("lethe"), vars(), command.SharedHelp(), kong.Exit(func(int) {}))
	require.NoError(t, err)
	_, err = parser.Parse(args)
	require.NoError(t, err, "%s: lethe %s", where, strings.Join(args, " "))
}

// What the compose file starts, the demo's stream included, are commands of lethe.
func TestComposeStartsWhatIsThere(t *testing.T) {
	text, err := os.ReadFile("../../docker-compose.yml")
	require.NoError(t, err)
	var file struct {
		Services map[string]struct {
			Image    string
			Command  []string
			Profiles []string
			Volumes  []string
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	checked, profiled := 0, 0
	for name, s := range file.Services {
		if s.Image != "lethe:local" {
			continue
		}
		parse(t, s.Command, name)
		checked++
		for _, profile := range s.Profiles {
			require.Equal(t, "demo", profile)
			profiled++
		}
	}
	require.Equal(t, 3, checked)
	require.Equal(t, 2, profiled, "the stream and who publishes it")
	broker := file.Services["lethe"].Command[2]
	require.Contains(t, file.Services["demo"].Command, broker, "the demo publishes where lethe reads")
	require.Contains(t, file.Services["demo"].Volumes, "demo-stream:/data:ro")
	require.Contains(t, file.Services["demo-stream"].Volumes, "demo-stream:/data")
}

// object is what is looked at of an object of Kubernetes.
type object struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		PolicyTypes []string `yaml:"policyTypes"`
		Template    struct {
			Spec struct {
				SecurityContext struct {
					RunAsNonRoot bool  `yaml:"runAsNonRoot"`
					RunAsUser    int64 `yaml:"runAsUser"`
				} `yaml:"securityContext"`
				Containers []struct {
					Args           []string
					LivenessProbe  probe `yaml:"livenessProbe"`
					ReadinessProbe probe `yaml:"readinessProbe"`
				}
			}
		}
	}
}

type probe struct {
	HTTPGet struct{ Path string } `yaml:"httpGet"`
}

// The manifests start commands of lethe, with a configuration that it takes, and every role is played.
func TestManifestsStartWhatIsThere(t *testing.T) {
	text, err := os.ReadFile("../../deploy/kubernetes/lethe.yaml")
	require.NoError(t, err)
	played, configured, budgets := make(map[string]bool), 0, 0
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var o object
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if file, has := o.Data["lethe.yaml"]; has {
			path := t.TempDir() + "/lethe.yaml"
			require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
			c, err := configs.Load(configs.LoadOptions{File: path})
			require.NoError(t, err)
			require.NotEmpty(t, c.HTTP.TokensFile, "who reaches a pod has to show a token")
			require.NoError(t, c.HTTP.CheckLogin())
			configured++
		}
		switch o.Kind {
		case "NetworkPolicy":
			require.ElementsMatch(t, []string{"Ingress", "Egress"}, o.Spec.PolicyTypes)
		case "PodDisruptionBudget":
			budgets++
		}
		if o.Kind != "StatefulSet" {
			continue
		}
		pod := o.Spec.Template.Spec
		require.True(t, pod.SecurityContext.RunAsNonRoot)
		require.Equal(t, int64(65532), pod.SecurityContext.RunAsUser, "the image's user")
		for _, c := range pod.Containers {
			parse(t, c.Args, o.Metadata.Name)
			require.Equal(t, "/livez", c.LivenessProbe.HTTPGet.Path)
			require.Equal(t, "/readyz", c.ReadinessProbe.HTTPGet.Path)
			for _, arg := range c.Args {
				if roles, is := strings.CutPrefix(arg, "--roles="); is {
					for role := range strings.SplitSeq(roles, ",") {
						played[role] = true
					}
				}
			}
		}
	}
	require.Equal(t, 1, configured)
	require.Equal(t, 4, budgets, "one of each process")
	require.Equal(t, map[string]bool{"graphs": true, "erasure": true, "train": true, "score": true, "view": true}, played)
}
