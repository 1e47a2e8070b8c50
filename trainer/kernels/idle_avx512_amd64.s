#include "go_asm.h"
#include "textflag.h"

// STEP makes one step of 16 weights (w, m, v) whose gradient is 0, with the
// operations of the portable loop but for the small values that it makes 0: the
// smallest absolute values are kept in Z20 to Z23 instead. a and b are free.
#define STEP(w, m, v, a, b)                                 \
	VMULPS.BCST AdamStep_Decay(R8), w, a            \
	VRANGEPS    $10, a, Z20, Z20                    \
	VMULPS.BCST AdamStep_Beta1(R8), m, m            \
	VMULPS.BCST AdamStep_OneMinusBeta1(R8), a, b    \
	VADDPS      b, m, m                             \
	VRANGEPS    $10, m, Z21, Z21                    \
	VMULPS      a, a, a                             \
	VMULPS.BCST AdamStep_OneMinusBeta2(R8), a, a    \
	VMULPS.BCST AdamStep_Beta2(R8), v, v            \
	VADDPS      a, v, v                             \
	VRANGEPS    $10, v, Z22, Z22                    \
	VSQRTPS     v, a                                \
	VMULPS.BCST AdamStep_RootScale(R8), a, a        \
	VADDPS.BCST AdamStep_Epsilon(R8), a, a          \
	VMULPS.BCST AdamStep_Size(R8), m, b             \
	VDIVPS      a, b, b                             \
	VMULPS.BCST AdamStep_Shrink(R8), w, w           \
	VSUBPS      b, w, w                             \
	VRANGEPS    $10, w, Z23, Z23

// NONEBELOW goes to done unless the bits of all of X are at least those of small.
#define NONEBELOW(small, X)      \
	MOVL         $small, AX  \
	VPBROADCASTD AX, Z24     \
	VPCMPUD      $1, Z24, X, K1 \
	KORTESTW     K1, K1      \
	JNZ          done

// FINITE goes to done unless all weights are finite.
#define FINITE(w)                \
	VPANDD   Z25, w, Z24     \
	VPCMPUD  $5, Z26, Z24, K1 \
	KORTESTW K1, K1          \
	JNZ      done

// func idleAVX512(steps *AdamStep, count int, p, m, v *float32) bool
//
// 64 weights stay in the registers for all steps. If one of their values would
// have become 0 because it is small, or is not finite in the end, nothing is
// stored, and the result is false.
TEXT ·idleAVX512(SB), NOSPLIT, $0-41
	MOVQ    steps+0(FP), R8
	MOVQ    count+8(FP), CX
	MOVQ    p+16(FP), DI
	MOVQ    m+24(FP), DX
	MOVQ    v+32(FP), BX
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	VMOVUPS 192(DI), Z3
	VMOVUPS (DX), Z4
	VMOVUPS 64(DX), Z5
	VMOVUPS 128(DX), Z6
	VMOVUPS 192(DX), Z7
	VMOVUPS (BX), Z8
	VMOVUPS 64(BX), Z9
	VMOVUPS 128(BX), Z10
	VMOVUPS 192(BX), Z11
	MOVB    $0, ret+40(FP)
	MOVL    $0x7f800000, AX
	VPBROADCASTD AX, Z26
	VMOVAPS Z26, Z20
	VMOVAPS Z26, Z21
	VMOVAPS Z26, Z22
	VMOVAPS Z26, Z23
	MOVL    $0x7fffffff, AX
	VPBROADCASTD AX, Z25

step:
	STEP(Z0, Z4, Z8, Z12, Z13)
	STEP(Z1, Z5, Z9, Z14, Z15)
	STEP(Z2, Z6, Z10, Z16, Z17)
	STEP(Z3, Z7, Z11, Z18, Z19)
	ADDQ    $AdamStep__size, R8
	DECQ    CX
	JNZ     step

	NONEBELOW(const_smallFirst, Z20)
	NONEBELOW(const_smallFirst, Z21)
	NONEBELOW(const_smallSecond, Z22)
	NONEBELOW(const_smallWeight, Z23)
	FINITE(Z0)
	FINITE(Z1)
	FINITE(Z2)
	FINITE(Z3)
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	VMOVUPS Z4, (DX)
	VMOVUPS Z5, 64(DX)
	VMOVUPS Z6, 128(DX)
	VMOVUPS Z7, 192(DX)
	VMOVUPS Z8, (BX)
	VMOVUPS Z9, 64(BX)
	VMOVUPS Z10, 128(BX)
	VMOVUPS Z11, 192(BX)
	MOVB    $1, ret+40(FP)

done:
	VZEROUPPER
	RET
