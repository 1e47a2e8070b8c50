//go:build linux && (amd64 || arm64) && !static

package kernels

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

const (
	cblasRowMajor = 101
	cblasNoTrans  = 111
	cblasTrans    = 112
)

// openblasFiles are the library's usual names, the thread-free build first.
func openblasFiles() []string {
	return []string{"libopenblas.so.0", "libopenblas.so", "libopenblaso.so.0", "libopenblas64_.so.0"}
}

// sgemm is cblas_sgemm with 32-bit sizes.
type sgemm func(order, transA, transB, m, n, k int32, alpha float32, a *float32, lda int32,
	b *float32, ldb int32, beta float32, c *float32, ldc int32)

// openBLAS multiplies matrices with OpenBLAS, loaded at run time without cgo,
// on the calling thread. Everything else is that of FMA.
type openBLAS struct {
	FMA
	library *library
}

// library is a loaded OpenBLAS.
type library struct {
	name  string
	sgemm sgemm
}

// newOpenBLAS returns the set, or an error if there is no such library. A
// process loads the library once: its number of threads is the process's.
func newOpenBLAS() (Set, error) {
	l, err := loadOpenBLAS()
	if err != nil {
		return nil, err
	}
	return openBLAS{FMA: FMA{bestLoops()}, library: l}, nil
}

//nolint:gochecknoglobals // a loaded library is a property of the process, not of a caller
var loadOpenBLAS = sync.OnceValues(dlopenOpenBLAS)

func dlopenOpenBLAS() (*library, error) {
	var problems []error
	for _, file := range openblasFiles() {
		handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		l, err := bindOpenBLAS(handle)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", file, err))
			continue
		}
		return l, nil
	}
	return nil, fmt.Errorf("no OpenBLAS on this machine (package libopenblas0): %w", errors.Join(problems...))
}

// bindOpenBLAS looks the functions up and sets the library to one thread. An
// OpenBLAS with 64-bit integers is refused.
func bindOpenBLAS(handle uintptr) (*library, error) {
	symbols := make(map[string]uintptr)
	for _, name := range []string{"cblas_sgemm", "openblas_set_num_threads", "openblas_get_config", "openblas_get_corename"} {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, err
		}
		symbols[name] = address
	}
	var l library
	var setThreads func(n int32)
	var config, core func() string
	purego.RegisterFunc(&l.sgemm, symbols["cblas_sgemm"])
	purego.RegisterFunc(&setThreads, symbols["openblas_set_num_threads"])
	purego.RegisterFunc(&config, symbols["openblas_get_config"])
	purego.RegisterFunc(&core, symbols["openblas_get_corename"])
	fields := strings.Fields(config())
	if len(fields) < 2 || fields[0] != "OpenBLAS" || strings.Contains(config(), "USE64BITINT") {
		return nil, fmt.Errorf("configuration %q is not that of an OpenBLAS with 32-bit sizes", config())
	}
	setThreads(1)
	l.name = OpenBLASName + "-" + fields[1] + "-" + strings.ToLower(core())
	return &l, nil
}

// Name implements Set. It holds the version and the processor that the library
// chose its code for, because bits depend on both.
func (o openBLAS) Name() string { return o.library.name }

// Detail names the instructions of everything but matrix products.
func (o openBLAS) Detail() string { return "others " + o.FMA.Detail() }

// MulNN implements Products.
func (o openBLAS) MulNN(dst, a, b Matrix, s *Scratch) {
	if tooSmall(dst, a.Cols) {
		o.FMA.MulNN(dst, a, b, s)
		return
	}
	o.multiply(cblasNoTrans, cblasNoTrans, dst, a, b, a.Cols)
}

// MulNT implements Products.
func (o openBLAS) MulNT(dst, a, b Matrix, s *Scratch) {
	if tooSmall(dst, a.Cols) {
		o.FMA.MulNT(dst, a, b, s)
		return
	}
	o.multiply(cblasNoTrans, cblasTrans, dst, a, b, a.Cols)
}

// MulTN implements Products.
func (o openBLAS) MulTN(dst, a, b Matrix, s *Scratch) {
	if tooSmall(dst, a.Rows) {
		o.FMA.MulTN(dst, a, b, s)
		return
	}
	o.multiply(cblasTrans, cblasNoTrans, dst, a, b, a.Rows)
}

func (o openBLAS) multiply(transA, transB int32, dst, a, b Matrix, depth int) {
	o.library.sgemm(cblasRowMajor, transA, transB, int32(dst.Rows), int32(dst.Cols), int32(depth), 1,
		unsafe.SliceData(a.Data), int32(a.Cols), unsafe.SliceData(b.Data), int32(b.Cols), 0,
		unsafe.SliceData(dst.Data), int32(dst.Cols))
}

// tooSmall tells which products a call into the library does not pay for. It
// looks at the shape alone, so that the same numbers give the same bits.
func tooSmall(dst Matrix, depth int) bool {
	return dst.Rows*dst.Cols*depth < 1<<21
}
