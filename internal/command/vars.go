package command

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"lethe/configs"
)

// SharedHelp returns the help of every configuration key, under the key with underscores for
// dots, and the help of flags that several commands have.
func SharedHelp() kong.Vars {
	vars := kong.Vars{
		"set_key":               "Set any configuration key, as in --set trainer.hidden=128.",
		"elliptic_or_generated": "Folder with Elliptic's three CSV files; generated data without it.",
	}
	for _, s := range configs.Settings() {
		vars[strings.ReplaceAll(s.Key, ".", "_")] = s.Help
	}
	return vars
}

// VarsOf returns the help and value of every field with a help tag, so that flags need not repeat
// them: with the prefix cut, the field MinStubs gives ${cut_min_stubs} and
// ${cut_min_stubs_default}. Fields of an embedded struct count as fields of the struct.
func VarsOf(prefix string, defaults any) kong.Vars {
	vars := make(kong.Vars)
	of := reflect.ValueOf(defaults)
	for _, field := range reflect.VisibleFields(of.Type()) {
		if help := field.Tag.Get("help"); help != "" {
			name := prefix + "_" + snakeCase(field.Name)
			vars[name], vars[name+"_default"] = help, fmt.Sprint(of.FieldByIndex(field.Index).Interface())
		}
	}
	return vars
}

// variable matches a variable in the tags of a command.
var variable = regexp.MustCompile(`\$\{(\w+)`)

// used returns only the variables that the tags of commands mention. kong iterates over all variables for every
// flag, which took most of the time of a short command.
func used(commands any, all kong.Vars) kong.Vars {
	vars, seen := make(kong.Vars), make(map[reflect.Type]bool)
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			field := t.Field(i)
			for _, name := range variable.FindAllStringSubmatch(string(field.Tag), -1) {
				if value, is := all[name[1]]; is {
					vars[name[1]] = value
				}
			}
			walk(field.Type)
		}
	}
	walk(reflect.TypeOf(commands))
	return vars
}

// snakeCase converts NodesPerStep to nodes_per_step.
func snakeCase(name string) string {
	var out strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
