#include "go_asm.h"
#include "textflag.h"

// Sums over the rows of a matrix, column by column in double precision. A group
// of 16 columns runs down all rows with its sums in Z0 and Z1, so each sum takes
// its rows in ascending order.
//
//	DI  sums     SI  x     BX  bytes between rows     R8  rows
//	CX  columns left       K1  columns of this group
#define GROUPMASK       \
	MOVL    $16, AX  \
	CMPQ    CX, AX   \
	CMOVQLT CX, AX   \
	MOVL    $1, R15  \
	XCHGQ   AX, CX   \
	SHLL    CX, R15  \
	XCHGQ   AX, CX   \
	DECL    R15      \
	KMOVW   R15, K1  \
	SHRL    $8, R15  \
	KMOVW   R15, K2

// func columnSumsAVX512(sums *float64, x *float32, rows, cols int)
TEXT ·columnSumsAVX512(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ cols+24(FP), CX
	LEAQ (CX*4), BX

group:
	GROUPMASK
	MOVQ   rows+16(FP), R8
	MOVQ   SI, R9
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1

row:
	VMOVUPS.Z     (R9), K1, Z2
	VEXTRACTF64X4 $1, Z2, Y3
	VCVTPS2PD     Y2, Z2
	VCVTPS2PD     Y3, Z3
	VADDPD        Z2, Z0, Z0
	VADDPD        Z3, Z1, Z1
	ADDQ          BX, R9
	DECQ          R8
	JNZ           row
	VMOVUPD       Z0, K1, (DI)
	VMOVUPD       Z1, K2, 64(DI)
	ADDQ          $128, DI
	ADDQ          $64, SI
	SUBQ          $16, CX
	JG            group
	VZEROUPPER
	RET

// func columnSquaresAVX512(sums, centre *float64, x *float32, rows, cols int)
TEXT ·columnSquaresAVX512(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ centre+8(FP), DX
	MOVQ x+16(FP), SI
	MOVQ cols+32(FP), CX
	LEAQ (CX*4), BX

group:
	GROUPMASK
	MOVQ      rows+24(FP), R8
	MOVQ      SI, R9
	VPXORD    Z0, Z0, Z0
	VPXORD    Z1, Z1, Z1
	VMOVUPD.Z (DX), K1, Z4
	VMOVUPD.Z 64(DX), K2, Z5

row:
	VMOVUPS.Z     (R9), K1, Z2
	VEXTRACTF64X4 $1, Z2, Y3
	VCVTPS2PD     Y2, Z2
	VCVTPS2PD     Y3, Z3
	VSUBPD        Z4, Z2, Z2
	VSUBPD        Z5, Z3, Z3
	VMULPD        Z2, Z2, Z2
	VMULPD        Z3, Z3, Z3
	VADDPD        Z2, Z0, Z0
	VADDPD        Z3, Z1, Z1
	ADDQ          BX, R9
	DECQ          R8
	JNZ           row
	VMOVUPD       Z0, K1, (DI)
	VMOVUPD       Z1, K2, 64(DI)
	ADDQ          $128, DI
	ADDQ          $128, DX
	ADDQ          $64, SI
	SUBQ          $16, CX
	JG            group
	VZEROUPPER
	RET

// func columnDotsAVX512(sums *float64, x, y *float32, rows, cols int)
TEXT ·columnDotsAVX512(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ cols+32(FP), CX
	LEAQ (CX*4), BX

group:
	GROUPMASK
	MOVQ   rows+24(FP), R8
	MOVQ   SI, R9
	MOVQ   DX, R10
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1

row:
	VMOVUPS.Z     (R9), K1, Z2
	VMOVUPS.Z     (R10), K1, Z4
	VEXTRACTF64X4 $1, Z2, Y3
	VEXTRACTF64X4 $1, Z4, Y5
	VCVTPS2PD     Y2, Z2
	VCVTPS2PD     Y3, Z3
	VCVTPS2PD     Y4, Z4
	VCVTPS2PD     Y5, Z5
	VFMADD231PD   Z2, Z4, Z0
	VFMADD231PD   Z3, Z5, Z1
	ADDQ          BX, R9
	ADDQ          BX, R10
	DECQ          R8
	JNZ           row
	VMOVUPD       Z0, K1, (DI)
	VMOVUPD       Z1, K2, 64(DI)
	ADDQ          $128, DI
	ADDQ          $64, SI
	ADDQ          $64, DX
	SUBQ          $16, CX
	JG            group
	VZEROUPPER
	RET

// func normaliseAVX512(n *normalising)
//
// z = (x − shift)·inverse, dst = z·weight + bias, nothing fused.
TEXT ·normaliseAVX512(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), R8
	MOVQ normalising_cols(R8), CX
	LEAQ (CX*4), BX
	XORQ R14, R14

group:
	GROUPMASK
	MOVQ      normalising_shift(R8), AX
	VMOVUPS.Z (AX)(R14*1), K1, Z1
	MOVQ      normalising_inverse(R8), AX
	VMOVUPS.Z (AX)(R14*1), K1, Z2
	MOVQ      normalising_weight(R8), AX
	VMOVUPS.Z (AX)(R14*1), K1, Z3
	MOVQ      normalising_bias(R8), AX
	VMOVUPS.Z (AX)(R14*1), K1, Z4
	MOVQ      normalising_dst(R8), DI
	MOVQ      normalising_x(R8), SI
	MOVQ      normalising_z(R8), DX
	ADDQ      R14, DI
	ADDQ      R14, SI
	ADDQ      R14, DX
	MOVQ      normalising_rows(R8), R9

row:
	VMOVUPS.Z (SI), K1, Z0
	VSUBPS    Z1, Z0, Z0
	VMULPS    Z2, Z0, Z0
	VMOVUPS   Z0, K1, (DX)
	VMULPS    Z3, Z0, Z0
	VADDPS    Z4, Z0, Z0
	VMOVUPS   Z0, K1, (DI)
	ADDQ      BX, SI
	ADDQ      BX, DI
	ADDQ      BX, DX
	DECQ      R9
	JNZ       row
	ADDQ      $64, R14
	SUBQ      $16, CX
	JG        group
	VZEROUPPER
	RET

// func normaliseGradAVX512(n *normalising)
//
// dst = weight·inverse·(x − share·(sum + z·along)), nothing fused.
TEXT ·normaliseGradAVX512(SB), NOSPLIT, $0-8
	MOVQ         n+0(FP), R8
	MOVQ         normalising_cols(R8), CX
	LEAQ         (CX*4), BX
	XORQ         R14, R14
	VBROADCASTSS normalising_share(R8), Z5

group:
	GROUPMASK
	MOVQ      normalising_sum(R8), AX
	VMOVUPS.Z (AX)(R14*1), K1, Z1
	MOVQ      normalising_inverse(R8), AX
	VMOVUPS.Z (AX)(R14*1), K1, Z2
	MOVQ      normalising_weight(R8), AX
	VMOVUPS.Z (AX)(R14*1), K1, Z3
	VMULPS    Z2, Z3, Z3
	MOVQ      normalising_along(R8), AX
	VMOVUPS.Z (AX)(R14*1), K1, Z4
	MOVQ      normalising_dst(R8), DI
	MOVQ      normalising_x(R8), SI
	MOVQ      normalising_z(R8), DX
	ADDQ      R14, DI
	ADDQ      R14, SI
	ADDQ      R14, DX
	MOVQ      normalising_rows(R8), R9

row:
	VMOVUPS.Z (DX), K1, Z6
	VMULPS    Z4, Z6, Z6
	VADDPS    Z6, Z1, Z6
	VMULPS    Z6, Z5, Z6
	VMOVUPS.Z (SI), K1, Z0
	VSUBPS    Z6, Z0, Z0
	VMULPS    Z0, Z3, Z0
	VMOVUPS   Z0, K1, (DI)
	ADDQ      BX, SI
	ADDQ      BX, DI
	ADDQ      BX, DX
	DECQ      R9
	JNZ       row
	ADDQ      $64, R14
	SUBQ      $16, CX
	JG        group
	VZEROUPPER
	RET
