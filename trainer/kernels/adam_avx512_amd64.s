#include "go_asm.h"
#include "textflag.h"
#include "tail_avx512_amd64.h"

// A group of 16 weights goes through three rounds, in which other groups keep the
// processor busy while root and quotient take their time: the moments (Z0 to Z3),
// the root of the second one (Z4 to Z6), the quotient and the weight (Z7 to Z9).
// The operations are those of the portable loop in the same order, none of them
// fused. Z16 to Z29 hold constants, Z31 the largest absolute values of the weights
// so far, as bits.

// UNLESSBELOW replaces what is below small in absolute value by 0 and leaves the
// absolute values in Z30.
#define UNLESSBELOW(small, X)        \
	VPANDD    Z29, X, Z30        \
	VPCMPD    $5, small, Z30, K2 \
	VMOVUPS.Z X, K2, X

// DIVIDE begins what takes long, for the groups of the last two rounds.
#define DIVIDE                  \
	VDIVPS  Z9, Z8, Z8      \
	VSQRTPS Z6, Z6

// MOMENTS moves the moments of this round's group by its gradient with the decay.
// The second one has no sign.
#define MOMENTS                     \
	VMULPS    Z0, Z16, Z30      \
	VADDPS    Z30, Z1, Z1       \
	UNLESSBELOW(Z26, Z1)        \
	VMULPS    Z2, Z18, Z2       \
	VMULPS    Z1, Z20, Z30      \
	VADDPS    Z30, Z2, Z2       \
	VMULPS    Z1, Z1, Z1        \
	VMULPS    Z1, Z21, Z1       \
	VMULPS    Z3, Z19, Z3       \
	VADDPS    Z1, Z3, Z3        \
	VPCMPUD   $5, Z27, Z3, K2   \
	VMOVUPS.Z Z3, K2, Z3        \
	UNLESSBELOW(Z26, Z2)

// WEIGHTS moves the weights of the group of two rounds ago, after it has made
// divisor and dividend for the last one.
#define WEIGHTS                     \
	VMULPS    Z23, Z6, Z6       \
	VADDPS    Z24, Z6, Z6       \
	VMULPS    Z5, Z22, Z5       \
	VMULPS    Z17, Z7, Z7       \
	VSUBPS    Z8, Z7, Z7        \
	UNLESSBELOW(Z28, Z7)

// PASS hands the groups on to the next round.
#define PASS                    \
	VMOVAPS Z4, Z7          \
	VMOVAPS Z5, Z8          \
	VMOVAPS Z6, Z9          \
	VMOVAPS Z0, Z4          \
	VMOVAPS Z2, Z5          \
	VMOVAPS Z3, Z6          \
	ADDQ    $64, DI         \
	ADDQ    $64, SI         \
	ADDQ    $64, DX         \
	ADDQ    $64, BX         \
	SUBQ    $16, R10        \
	SUBQ    $16, R11

// func adamAVX512(s *AdamStep, p, grad, m, v *float32, n int) bool
//
// R10 counts the values that are left to take in, R11 those to give back. Rounds
// that do less than 16 of either are masked: the first two, and the last ones.
TEXT ·adamAVX512(SB), NOSPLIT, $0-49
	MOVQ         s+0(FP), R8
	MOVQ         p+8(FP), DI
	MOVQ         grad+16(FP), SI
	MOVQ         m+24(FP), DX
	MOVQ         v+32(FP), BX
	MOVQ         n+40(FP), R10
	VBROADCASTSS AdamStep_Decay(R8), Z16
	VBROADCASTSS AdamStep_Shrink(R8), Z17
	VBROADCASTSS AdamStep_Beta1(R8), Z18
	VBROADCASTSS AdamStep_Beta2(R8), Z19
	VBROADCASTSS AdamStep_OneMinusBeta1(R8), Z20
	VBROADCASTSS AdamStep_OneMinusBeta2(R8), Z21
	VBROADCASTSS AdamStep_Size(R8), Z22
	VBROADCASTSS AdamStep_RootScale(R8), Z23
	VBROADCASTSS AdamStep_Epsilon(R8), Z24
	MOVL         $const_smallFirst, AX
	VPBROADCASTD AX, Z26
	MOVL         $const_smallSecond, AX
	VPBROADCASTD AX, Z27
	MOVL         $const_smallWeight, AX
	VPBROADCASTD AX, Z28
	MOVL         $0x7fffffff, AX
	VPBROADCASTD AX, Z29
	VPXORD       Z31, Z31, Z31
	VPXORD       Z4, Z4, Z4
	VPXORD       Z5, Z5, Z5
	VPXORD       Z6, Z6, Z6
	VPXORD       Z7, Z7, Z7
	VPXORD       Z8, Z8, Z8
	VMOVAPS      Z24, Z9
	LEAQ         32(R10), R11
	MOVQ         $2, R12

masked:
	MASK(R10, K1)
	KXORW K4, K4, K4
	TESTQ R12, R12
	JG    warm
	MASK(R11, K4)

warm:
	DIVIDE
	VMOVUPS.Z (DI), K1, Z0
	VMOVUPS.Z (SI), K1, Z1
	VMOVUPS.Z (DX), K1, Z2
	VMOVUPS.Z (BX), K1, Z3
	MOMENTS
	VMOVUPS   Z2, K1, (DX)
	VMOVUPS   Z3, K1, (BX)
	WEIGHTS
	VPMAXUD   Z30, Z31, K4, Z31
	VMOVUPS   Z7, K4, -128(DI)
	PASS
	JLE       done
	DECQ      R12
	JG        masked
	JMP       next

full:
	DIVIDE
	VMOVUPS (DI), Z0
	VMOVUPS (SI), Z1
	VMOVUPS (DX), Z2
	VMOVUPS (BX), Z3
	MOMENTS
	VMOVUPS Z2, (DX)
	VMOVUPS Z3, (BX)
	WEIGHTS
	VPMAXUD Z30, Z31, Z31
	VMOVUPS Z7, -128(DI)
	PASS

next:
	CMPQ R10, $16
	JGE  full
	JMP  masked

done:
	MOVL         $0x7f800000, AX
	VPBROADCASTD AX, Z0
	VPCMPUD      $5, Z0, Z31, K2
	KORTESTW     K2, K2
	SETEQ        ret+48(FP)
	VZEROUPPER
	RET
