#include "go_asm.h"
#include "textflag.h"

// The loops below take 16 values at a time. K1 masks the values that exist: all
// until the last group. TAIL sets it to the CX (under 16) lowest bits.

#define TAIL            \
	MOVL  $1, R15    \
	SHLL  CX, R15    \
	DECL  R15        \
	KMOVW R15, K1

// func addAVX512(dst, x *float32, n int)
TEXT ·addAVX512(SB), NOSPLIT, $0-24
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   n+16(FP), CX
	KXNORW K1, K1, K1

group:
	CMPQ CX, $16
	JGE  body
	TESTQ CX, CX
	JLE  done
	TAIL

body:
	VMOVUPS.Z (DI), K1, Z0
	VMOVUPS.Z (SI), K1, Z1
	VADDPS    Z1, Z0, Z0
	VMOVUPS   Z0, K1, (DI)
	ADDQ      $64, DI
	ADDQ      $64, SI
	SUBQ      $16, CX
	JMP       group

done:
	VZEROUPPER
	RET

// func scaleAVX512(dst, x *float32, n int, alpha float32)
TEXT ·scaleAVX512(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS alpha+24(FP), Z2
	KXNORW       K1, K1, K1

group:
	CMPQ CX, $16
	JGE  body
	TESTQ CX, CX
	JLE  done
	TAIL

body:
	VMOVUPS.Z (SI), K1, Z1
	VMULPS    Z1, Z2, Z0
	VMOVUPS   Z0, K1, (DI)
	ADDQ      $64, DI
	ADDQ      $64, SI
	SUBQ      $16, CX
	JMP       group

done:
	VZEROUPPER
	RET

// func axpyAVX512(dst, x *float32, n int, alpha float32)
TEXT ·axpyAVX512(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS alpha+24(FP), Z2
	KXNORW       K1, K1, K1

group:
	CMPQ CX, $16
	JGE  body
	TESTQ CX, CX
	JLE  done
	TAIL

body:
	VMOVUPS.Z   (SI), K1, Z1
	VMOVUPS.Z   (DI), K1, Z0
	VFMADD231PS Z1, Z2, Z0
	VMOVUPS     Z0, K1, (DI)
	ADDQ        $64, DI
	ADDQ        $64, SI
	SUBQ        $16, CX
	JMP         group

done:
	VZEROUPPER
	RET

// func dotAVX512(x, y *float32, n int) float64
//
// Z0 and Z1 hold 16 sums, one per position in a group. A product of two
// float32 is exact in float64, so fusing it rounds nothing away.
TEXT ·dotAVX512(SB), NOSPLIT, $0-32
	MOVQ   x+0(FP), DI
	MOVQ   y+8(FP), SI
	MOVQ   n+16(FP), CX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	KXNORW K1, K1, K1

group:
	CMPQ CX, $16
	JGE  body
	TESTQ CX, CX
	JLE  done
	TAIL

body:
	VMOVUPS.Z     (DI), K1, Z2
	VMOVUPS.Z     (SI), K1, Z3
	VCVTPS2PD     Y2, Z4
	VCVTPS2PD     Y3, Z5
	VEXTRACTF64X4 $1, Z2, Y2
	VEXTRACTF64X4 $1, Z3, Y3
	VCVTPS2PD     Y2, Z2
	VCVTPS2PD     Y3, Z3
	VFMADD231PD   Z4, Z5, Z0
	VFMADD231PD   Z2, Z3, Z1
	ADDQ          $64, DI
	ADDQ          $64, SI
	SUBQ          $16, CX
	JMP           group

done:
	VADDPD        Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPD        Y1, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	VADDPD        X1, X0, X0
	VPERMILPD     $1, X0, X1
	VADDSD        X1, X0, X0
	VMOVSD        X0, ret+24(FP)
	VZEROUPPER
	RET

// func reluAVX512(dst, x *float32, n int)
TEXT ·reluAVX512(SB), NOSPLIT, $0-24
	MOVQ   dst+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   n+16(FP), CX
	VPXORD Z1, Z1, Z1
	KXNORW K1, K1, K1

group:
	CMPQ CX, $16
	JGE  body
	TESTQ CX, CX
	JLE  done
	TAIL

body:
	VMOVUPS.Z (SI), K1, Z0
	VCMPPS    $0x16, Z1, Z0, K2 // not x ≤ 0: positive, or not a number
	VMOVUPS.Z Z0, K2, Z0
	VMOVUPS   Z0, K1, (DI)
	ADDQ      $64, DI
	ADDQ      $64, SI
	SUBQ      $16, CX
	JMP       group

done:
	VZEROUPPER
	RET

// func reluGradAVX512(dst, y, grad *float32, n int)
TEXT ·reluGradAVX512(SB), NOSPLIT, $0-32
	MOVQ   dst+0(FP), DI
	MOVQ   y+8(FP), SI
	MOVQ   grad+16(FP), DX
	MOVQ   n+24(FP), CX
	KXNORW K1, K1, K1

group:
	CMPQ CX, $16
	JGE  body
	TESTQ CX, CX
	JLE  done
	TAIL

body:
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z (DX), K1, Z1
	VPTESTMD  Z0, Z0, K2
	VMOVUPS.Z Z1, K2, Z1
	VMOVUPS   Z1, K1, (DI)
	ADDQ      $64, DI
	ADDQ      $64, SI
	ADDQ      $64, DX
	SUBQ      $16, CX
	JMP       group

done:
	VZEROUPPER
	RET

// UNLESSBELOW replaces what is below small in absolute value by 0. Z29 masks the
// signs; it takes Z5 and K2.
#define UNLESSBELOW(small, X)      \
	VPANDD    Z29, X, Z5       \
	VPCMPD    $5, small, Z5, K2 \
	VMOVUPS.Z X, K2, X

// func adamAVX512(s *AdamStep, p, grad, m, v *float32, n int) bool
//
// The same operations in the same order as the portable loop, none of them
// fused. K3 collects the values that are not finite.
TEXT ·adamAVX512(SB), NOSPLIT, $0-49
	MOVQ         s+0(FP), R8
	MOVQ         p+8(FP), DI
	MOVQ         grad+16(FP), SI
	MOVQ         m+24(FP), DX
	MOVQ         v+32(FP), BX
	MOVQ         n+40(FP), CX
	VBROADCASTSS AdamStep_Decay(R8), Z16
	VBROADCASTSS AdamStep_Shrink(R8), Z17
	VBROADCASTSS AdamStep_Beta1(R8), Z18
	VBROADCASTSS AdamStep_Beta2(R8), Z19
	VBROADCASTSS AdamStep_OneMinusBeta1(R8), Z20
	VBROADCASTSS AdamStep_OneMinusBeta2(R8), Z21
	VBROADCASTSS AdamStep_Size(R8), Z22
	VBROADCASTSS AdamStep_RootScale(R8), Z23
	VBROADCASTSS AdamStep_Epsilon(R8), Z24
	MOVL         $0x7f800000, AX
	VPBROADCASTD AX, Z25
	MOVL         $const_smallFirst, AX
	VPBROADCASTD AX, Z26
	MOVL         $const_smallSecond, AX
	VPBROADCASTD AX, Z27
	MOVL         $const_smallWeight, AX
	VPBROADCASTD AX, Z28
	MOVL         $0x7fffffff, AX
	VPBROADCASTD AX, Z29
	KXNORW       K1, K1, K1
	KXORW        K3, K3, K3

group:
	CMPQ CX, $16
	JGE  body
	TESTQ CX, CX
	JLE  done
	TAIL

body:
	VMOVUPS.Z (DI), K1, Z0
	VMOVUPS.Z (SI), K1, Z1
	VMOVUPS.Z (DX), K1, Z2
	VMOVUPS.Z (BX), K1, Z3
	VPANDD    Z25, Z1, Z5
	VPCMPEQD  Z25, Z5, K2
	KORW      K2, K3, K3
	VMULPS    Z0, Z16, Z4   // gradient + decay·w
	VADDPS    Z4, Z1, Z1
	UNLESSBELOW(Z26, Z1)
	VMULPS    Z2, Z18, Z2   // first moment
	VMULPS    Z1, Z20, Z4
	VADDPS    Z4, Z2, Z2
	UNLESSBELOW(Z26, Z2)
	VMULPS    Z1, Z1, Z4    // second moment
	VMULPS    Z4, Z21, Z4
	VMULPS    Z3, Z19, Z3
	VADDPS    Z4, Z3, Z3
	UNLESSBELOW(Z27, Z3)
	VMOVUPS   Z2, K1, (DX)
	VMOVUPS   Z3, K1, (BX)
	VSQRTPS   Z3, Z3
	VMULPS    Z23, Z3, Z3
	VADDPS    Z24, Z3, Z3
	VMULPS    Z2, Z22, Z2
	VDIVPS    Z3, Z2, Z2
	VMULPS    Z17, Z0, Z0
	VSUBPS    Z2, Z0, Z0
	UNLESSBELOW(Z28, Z0)
	VMOVUPS   Z0, K1, (DI)
	VPANDD    Z25, Z0, Z5
	VPCMPEQD  Z25, Z5, K1, K2
	KORW      K2, K3, K3
	ADDQ      $64, DI
	ADDQ      $64, SI
	ADDQ      $64, DX
	ADDQ      $64, BX
	SUBQ      $16, CX
	JMP       group

done:
	KORTESTW K3, K3
	SETEQ    ret+48(FP)
	VZEROUPPER
	RET
