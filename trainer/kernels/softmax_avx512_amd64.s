#include "textflag.h"
#include "exponential_avx512_amd64.h"
#include "heads_avx512_amd64.h"

// func softmaxAVX512(x *float32, n, heads int)
//
// What is not a number is never the largest, but becomes a result that is none.
TEXT ·softmaxAVX512(SB), NOSPLIT, $0-24
	MOVQ   heads+16(FP), AX
	EXPONENTIALS
	CONSTANT(0xff800000, Z0) // the largest, from -Inf on
	VMOVAPS Z0, Z2
	MOVQ   x+0(FP), SI
	MOVQ   n+8(FP), CX
	KXNORW K1, K1, K1

search:
	BEGIN(candidate, found)

candidate:
	VMOVAPS Z2, Z1
	VMOVUPS (SI), K1, Z1
	VMAXPS  Z0, Z1, Z0
	ADDQ    $64, SI
	SUBQ    $16, CX
	JMP     search

found:
	FOLD(VMAXPS, Z0, largest)

largest:
	VPXORD Z3, Z3, Z3
	MOVQ   x+0(FP), SI
	MOVQ   n+8(FP), CX
	KXNORW K1, K1, K1

group:
	BEGIN(body, summed)

body:
	VMOVUPS.Z (SI), K1, Z1
	VSUBPS    Z0, Z1, Z1
	EXPONENTIAL(Z1)
	VMOVUPS   Z1, K1, (SI)
	VADDPS    Z1, Z3, K1, Z3
	ADDQ      $64, SI
	SUBQ      $16, CX
	JMP       group

summed:
	FOLD(VADDPS, Z3, total)

total:
	MOVQ   x+0(FP), SI
	MOVQ   n+8(FP), CX
	KXNORW K1, K1, K1

share:
	BEGIN(divide, done)

divide:
	VMOVUPS.Z (SI), K1, Z1
	VDIVPS    Z3, Z1, Z1
	VMOVUPS   Z1, K1, (SI)
	ADDQ      $64, SI
	SUBQ      $16, CX
	JMP       share

done:
	VZEROUPPER
	RET

// func softmaxGradAVX512(grad, y *float32, n, heads int)
TEXT ·softmaxGradAVX512(SB), NOSPLIT, $0-32
	MOVQ   grad+0(FP), DI
	MOVQ   y+8(FP), SI
	MOVQ   n+16(FP), CX
	MOVQ   heads+24(FP), AX
	VPXORD Z0, Z0, Z0
	KXNORW K1, K1, K1

group:
	BEGIN(body, summed)

body:
	VMOVUPS.Z (DI), K1, Z1
	VMOVUPS.Z (SI), K1, Z2
	VMULPS    Z2, Z1, Z1
	VADDPS    Z1, Z0, Z0
	ADDQ      $64, DI
	ADDQ      $64, SI
	SUBQ      $16, CX
	JMP       group

summed:
	FOLD(VADDPS, Z0, total)

total:
	MOVQ   grad+0(FP), DI
	MOVQ   y+8(FP), SI
	MOVQ   n+16(FP), CX
	KXNORW K1, K1, K1

pull:
	BEGIN(product, done)

product:
	VMOVUPS.Z (DI), K1, Z1
	VMOVUPS.Z (SI), K1, Z2
	VSUBPS    Z0, Z1, Z1
	VMULPS    Z1, Z2, Z1
	VMOVUPS   Z1, K1, (DI)
	ADDQ      $64, DI
	ADDQ      $64, SI
	SUBQ      $16, CX
	JMP       pull

done:
	VZEROUPPER
	RET
