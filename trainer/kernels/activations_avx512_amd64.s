#include "textflag.h"
#include "exponential_avx512_amd64.h"

// The loops take 16 values at a time. K1 masks the values that exist: all until
// the last group. BEGIN goes on at done if none is left; NEXT goes to the next.

#define BEGIN(body, done) \
	CMPQ  CX, $16 \
	JGE   body    \
	TESTQ CX, CX  \
	JLE   done    \
	TAIL

#define NEXT(group) \
	ADDQ $64, DI \
	ADDQ $64, SI \
	ADDQ $64, DX \
	SUBQ $16, CX \
	JMP  group

// func multiplyAVX512(dst, x, y *float32, n int)
TEXT ·multiplyAVX512(SB), NOSPLIT, $0-32
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   y+16(FP), DX
	MOVQ   n+24(FP), CX
	KXNORW K1, K1, K1

group:
	BEGIN(body, done)

body:
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z (DX), K1, Z1
	VMULPS    Z1, Z0, Z0
	VMOVUPS   Z0, K1, (DI)
	NEXT(group)

done:
	VZEROUPPER
	RET

// func leakyReLUAVX512(dst, y, grad *float32, n int, slope float32)
//
// With y as g, it is LeakyReLU itself.
TEXT ·leakyReLUAVX512(SB), NOSPLIT, $0-36
	MOVQ         dst+0(FP), DI
	MOVQ         y+8(FP), SI
	MOVQ         grad+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSS slope+32(FP), Z3
	VPXORD       Z4, Z4, Z4
	KXNORW       K1, K1, K1

group:
	BEGIN(body, done)

body:
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z (DX), K1, Z1
	VCMPPS    $0x1a, Z4, Z0, K2 // not above 0
	VMULPS    Z3, Z1, K2, Z1
	VMOVUPS   Z1, K1, (DI)
	NEXT(group)

done:
	VZEROUPPER
	RET

// func eluAVX512(dst, x *float32, n int)
TEXT ·eluAVX512(SB), NOSPLIT, $0-24
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   n+16(FP), CX
	VPXORD Z4, Z4, Z4
	KXNORW K1, K1, K1
	EXPONENTIALS

group:
	BEGIN(body, done)

body:
	VMOVUPS.Z (SI), K1, Z0
	VCMPPS    $0x11, Z4, Z0, K2 // below 0
	VMOVAPS   Z0, Z1
	EXPONENTIAL(Z1)
	VSUBPS    Z24, Z1, K2, Z0
	VMOVUPS   Z0, K1, (DI)
	NEXT(group)

done:
	VZEROUPPER
	RET

// func eluGradAVX512(dst, y, grad *float32, n int)
TEXT ·eluGradAVX512(SB), NOSPLIT, $0-32
	MOVQ   dst+0(FP), DI
	MOVQ   y+8(FP), SI
	MOVQ   grad+16(FP), DX
	MOVQ   n+24(FP), CX
	VPXORD Z4, Z4, Z4
	CONSTANT(0x3f800000, Z5)
	KXNORW K1, K1, K1

group:
	BEGIN(body, done)

body:
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z (DX), K1, Z1
	VMINPS    Z0, Z4, Z0 // y, unless it is above 0
	VADDPS    Z0, Z5, Z0
	VMULPS    Z0, Z1, Z0
	VMOVUPS   Z0, K1, (DI)
	NEXT(group)

done:
	VZEROUPPER
	RET

// func sigmoidAVX512(dst, x *float32, n int)
TEXT ·sigmoidAVX512(SB), NOSPLIT, $0-24
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   n+16(FP), CX
	VPXORD Z4, Z4, Z4
	CONSTANT(0x80000000, Z5)
	KXNORW K1, K1, K1
	EXPONENTIALS

group:
	BEGIN(body, done)

body:
	VMOVUPS.Z (SI), K1, Z0
	VPORD     Z5, Z0, Z1 // -|x|
	VCMPPS    $0x11, Z4, Z0, K2
	EXPONENTIAL(Z1)
	VMOVAPS   Z24, Z2
	VMOVAPS   Z1, K2, Z2
	VADDPS    Z24, Z1, Z1
	VDIVPS    Z1, Z2, Z0
	VMOVUPS   Z0, K1, (DI)
	NEXT(group)

done:
	VZEROUPPER
	RET
