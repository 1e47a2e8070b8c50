#include "go_asm.h"
#include "textflag.h"
#include "exponential_avx512_amd64.h"

// Position p of 16 belongs to head p mod heads; AX is heads, a power of two.

DATA positions<>+0(SB)/4, $0
DATA positions<>+4(SB)/4, $1
DATA positions<>+8(SB)/4, $2
DATA positions<>+12(SB)/4, $3
DATA positions<>+16(SB)/4, $4
DATA positions<>+20(SB)/4, $5
DATA positions<>+24(SB)/4, $6
DATA positions<>+28(SB)/4, $7
DATA positions<>+32(SB)/4, $8
DATA positions<>+36(SB)/4, $9
DATA positions<>+40(SB)/4, $10
DATA positions<>+44(SB)/4, $11
DATA positions<>+48(SB)/4, $12
DATA positions<>+52(SB)/4, $13
DATA positions<>+56(SB)/4, $14
DATA positions<>+60(SB)/4, $15
GLOBL positions<>(SB), RODATA|NOPTR, $64

#define BEGIN(body, done) \
	CMPQ  CX, $16 \
	JGE   body    \
	TESTQ CX, CX  \
	JLE   done    \
	TAIL

// HEADS sets K3 to the heads. It takes CX.
#define HEADS          \
	MOVQ  AX, CX   \
	MOVL  $1, R15  \
	SHLL  CX, R15  \
	DECL  R15      \
	KMOVW R15, K3

// SPREAD loads a value per head and gives every position that of its head. It
// takes CX, K3 and Z14.
#define SPREAD(from, OUT)                   \
	HEADS                               \
	LEAQ         -1(AX), R15            \
	VPBROADCASTD R15, Z14               \
	VPANDD       positions<>(SB), Z14, Z14 \
	VMOVUPS.Z    from, K3, OUT          \
	VPERMPS      OUT, Z14, OUT

// FOLD adds halves to halves until a value per head is left, in all positions of
// the head. It takes Z14.
#define FOLD(OP, Z, done)             \
	CMPQ       AX, $16            \
	JGE        done               \
	VSHUFF64X2 $0x4e, Z, Z, Z14   \
	OP         Z, Z14, Z          \
	CMPQ       AX, $8             \
	JGE        done               \
	VSHUFF64X2 $0xb1, Z, Z, Z14   \
	OP         Z, Z14, Z          \
	CMPQ       AX, $4             \
	JGE        done               \
	VPERMILPS  $0x4e, Z, Z14      \
	OP         Z, Z14, Z          \
	CMPQ       AX, $2             \
	JGE        done               \
	VPERMILPS  $0xb1, Z, Z14      \
	OP         Z, Z14, Z

// func sumHeadsAVX512(dst, x, y *float32, n, heads int)
TEXT ·sumHeadsAVX512(SB), NOSPLIT, $0-40
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   y+16(FP), DX
	MOVQ   n+24(FP), CX
	MOVQ   heads+32(FP), AX
	VPXORD Z0, Z0, Z0
	KXNORW K1, K1, K1

group:
	BEGIN(body, last)

body:
	VMOVUPS.Z (SI), K1, Z1
	VMOVUPS.Z (DX), K1, Z2
	VMULPS    Z2, Z1, Z1
	VADDPS    Z1, Z0, Z0
	ADDQ      $64, SI
	ADDQ      $64, DX
	SUBQ      $16, CX
	JMP       group

last:
	FOLD(VADDPS, Z0, folded)

folded:
	HEADS
	VMOVUPS Z0, K3, (DI)
	VZEROUPPER
	RET

// func addHeadsAVX512(dst, x, w *float32, n, heads int)
TEXT ·addHeadsAVX512(SB), NOSPLIT, $0-40
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   w+16(FP), DX
	MOVQ   heads+32(FP), AX
	SPREAD((DX), Z3)
	MOVQ   n+24(FP), CX
	KXNORW K1, K1, K1

group:
	BEGIN(body, done)

body:
	VMOVUPS.Z (SI), K1, Z1
	VMOVUPS.Z (DI), K1, Z0
	VMULPS    Z3, Z1, Z1
	VADDPS    Z1, Z0, Z0
	VMOVUPS   Z0, K1, (DI)
	ADDQ      $64, DI
	ADDQ      $64, SI
	SUBQ      $16, CX
	JMP       group

done:
	VZEROUPPER
	RET

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

// func pairScoreAVX512(score, left, right, vector *float32, n, heads int, slope float32)
TEXT ·pairScoreAVX512(SB), NOSPLIT, $0-52
	MOVQ         left+8(FP), SI
	MOVQ         right+16(FP), DX
	MOVQ         vector+24(FP), BX
	MOVQ         n+32(FP), CX
	MOVQ         heads+40(FP), AX
	VBROADCASTSS slope+48(FP), Z5
	VPXORD       Z0, Z0, Z0
	VPXORD       Z4, Z4, Z4
	KXNORW       K1, K1, K1

group:
	BEGIN(body, last)

body:
	VMOVUPS.Z (SI), K1, Z1
	VMOVUPS.Z (DX), K1, Z2
	VMOVUPS.Z (BX), K1, Z3
	VADDPS    Z2, Z1, Z1
	VCMPPS    $0x1a, Z4, Z1, K2 // not above 0
	VMULPS    Z5, Z1, K2, Z1
	VMULPS    Z3, Z1, Z1
	VADDPS    Z1, Z0, Z0
	ADDQ      $64, SI
	ADDQ      $64, DX
	ADDQ      $64, BX
	SUBQ      $16, CX
	JMP       group

last:
	FOLD(VADDPS, Z0, folded)

folded:
	HEADS
	MOVQ    score+0(FP), DI
	VMOVUPS Z0, K3, (DI)
	VZEROUPPER
	RET

// func pairScoreGradAVX512(grad *PairGrad, d *float32, heads int, slope float32)
TEXT ·pairScoreGradAVX512(SB), NOSPLIT, $0-28
	MOVQ         d+8(FP), DX
	MOVQ         heads+16(FP), AX
	SPREAD((DX), Z6)
	VBROADCASTSS slope+24(FP), Z5
	MOVQ         grad+0(FP), AX
	MOVQ         PairGrad_Left+0(AX), SI
	MOVQ         PairGrad_Right+0(AX), DX
	MOVQ         PairGrad_Vector+0(AX), BX
	MOVQ         PairGrad_Vector+8(AX), CX
	MOVQ         PairGrad_GradLeft+0(AX), R8
	MOVQ         PairGrad_GradRight+0(AX), R9
	MOVQ         PairGrad_GradVector+0(AX), R10
	VPXORD       Z4, Z4, Z4
	KXNORW       K1, K1, K1
	XORQ         R11, R11

group:
	BEGIN(body, done)

body:
	VMOVUPS.Z (SI)(R11*1), K1, Z1
	VMOVUPS.Z (DX)(R11*1), K1, Z2
	VMOVUPS.Z (BX)(R11*1), K1, Z3
	VADDPS    Z2, Z1, Z1
	VCMPPS    $0x1a, Z4, Z1, K2 // not above 0
	VMULPS    Z5, Z1, K2, Z1
	VMULPS    Z1, Z6, Z1
	VMOVUPS.Z (R10)(R11*1), K1, Z7
	VADDPS    Z1, Z7, Z7
	VMOVUPS   Z7, K1, (R10)(R11*1)
	VMOVAPS   Z6, Z2
	VMULPS    Z5, Z6, K2, Z2
	VMULPS    Z3, Z2, Z2
	VMOVUPS.Z (R8)(R11*1), K1, Z7
	VMOVUPS.Z (R9)(R11*1), K1, Z8
	VADDPS    Z2, Z7, Z7
	VADDPS    Z2, Z8, Z8
	VMOVUPS   Z7, K1, (R8)(R11*1)
	VMOVUPS   Z8, K1, (R9)(R11*1)
	ADDQ      $64, R11
	SUBQ      $16, CX
	JMP       group

done:
	VZEROUPPER
	RET
