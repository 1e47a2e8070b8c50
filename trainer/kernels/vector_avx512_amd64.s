#include "go_asm.h"
#include "textflag.h"
#include "tail_avx512_amd64.h"

// The loops below take 16 values at a time. K1 masks the values that exist: all
// until the last group.

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
