package command

import "lethe/configs"

// ConfigFlags are the configuration flags that commands share. They override the environment,
// which overrides the file. Flags that set a key have its help, see SharedHelp.
type ConfigFlags struct {
	Config      string            `help:"YAML configuration file." type:"path" placeholder:"FILE"`
	DataDir     string            `help:"${data_dir}" placeholder:"DIR"`
	Brokers     []string          `help:"${kafka_brokers}" placeholder:"A,B"`
	HTTPAddress string            `name:"http-address" help:"${http_address}" placeholder:"HOST:PORT"`
	Set         map[string]string `help:"${set_key}" placeholder:"KEY=VALUE"`
}

// Load assembles the configuration; extra are keys that the command sets and that override the
// flags. An invalid configuration is a usage error.
func (f ConfigFlags) Load(a *App, extra map[string]any) (configs.Config, error) {
	return f.LoadOver(a, configs.Default, extra)
}

// LoadOver is Load with other defaults.
func (f ConfigFlags) LoadOver(a *App, defaults func() configs.Config, extra map[string]any) (configs.Config, error) {
	overrides := make(map[string]any)
	for key, value := range f.Set {
		overrides[key] = value
	}
	if f.DataDir != "" {
		overrides["data_dir"] = f.DataDir
	}
	if len(f.Brokers) > 0 {
		overrides["kafka.brokers"] = f.Brokers
	}
	if f.HTTPAddress != "" {
		overrides["http.address"] = f.HTTPAddress
	}
	for key, value := range extra {
		overrides[key] = value
	}
	c, err := configs.Load(configs.LoadOptions{
		File: f.Config, Environ: a.Environ, Overrides: overrides, Defaults: defaults,
	})
	if err != nil {
		return c, Usagef("configuration: %s", OneLine(err))
	}
	return c, nil
}
