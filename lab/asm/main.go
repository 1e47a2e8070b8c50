package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// described lists the kernels by the package's folder beside trainer/kernels, and in it by the files that their
// assembly is in.
func described() map[string]map[string]func(a *assembler) {
	return map[string]map[string]func(a *assembler){
		"kernels": {
			"adam_avx2_amd64.s":       adamAVX2,
			"adam_avx512_amd64.s":     adam,
			"columns_avx2_amd64.s":    columnsAVX2,
			"columns_avx512_amd64.s":  columns,
			"elements_avx512_amd64.s": elements,
			"idle_avx512_amd64.s":     idle,
			"pack_avx2_amd64.s":       packAVX2,
			"pack_avx512_amd64.s":     pack,
			"rows_avx512_amd64.s":     rows,
			"tile_avx2_amd64.s":       tileAVX2,
			"tile_avx512_amd64.s":     tile,
			"vector_avx2_amd64.s":     vectorAVX2,
			"vector_avx512_amd64.s":   vector,
		},
		"../lab/networks/loops": {
			"activations_avx512_amd64.s": activations,
			"draws_avx512_amd64.s":       draws,
			"heads_avx512_amd64.s":       heads,
			"pairs_avx512_amd64.s":       pairs,
			"permute_avx512_amd64.s":     permute,
			"softmax_avx512_amd64.s":     softmax,
		},
		"logistic": {"matrix_avx2_amd64.s": regressionAVX2, "matrix_avx512_amd64.s": regressionAVX512},
		"trees":    {"histogram_amd64.s": histogram},
	}
}

func main() {
	if err := run(".."); err != nil {
		fmt.Fprintln(os.Stderr, "asm:", err)
		os.Exit(1)
	}
}

// run writes the files into the packages' folders, which are in the given one.
func run(folder string) error {
	files, err := generate(folder)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the text of every file, by folder and name.
func generate(folder string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	for of, described := range described() {
		types, err := load(filepath.Join(folder, of))
		if err != nil {
			return nil, err
		}
		for name, describe := range described {
			name = filepath.Join(of, name)
			if files[name], err = text(newAssembler(types), describe); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return files, nil
}

func text(a *assembler, describe func(a *assembler)) ([]byte, error) {
	describe(a)
	file, err := a.Result()
	if err != nil {
		return nil, err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return nil, err
	}
	return printer.NewGoAsm(printer.Config{Argv: []string{"go", "generate"}, Pkg: a.of.Name()}).Print(file)
}
