#include "go_asm.h"
#include "textflag.h"

// func copyAVX512(p *packing)
//
// Copies count rows, each to a number of panels of up to 32 columns: K1 and K2
// mask what is loaded, K3 and K4 what is stored; the difference is stored as
// zeros.
TEXT ·copyAVX512(SB), NOSPLIT, $0-8
	MOVQ  p+0(FP), R8
	MOVQ  packing_dst(R8), DI
	MOVQ  packing_src(R8), SI
	MOVQ  packing_count(R8), CX
	MOVQ  packing_dstStride(R8), DX
	MOVQ  packing_srcStride(R8), BX
	MOVQ  packing_panelStride(R8), R13
	MOVQ  packing_load(R8), AX
	KMOVW AX, K1
	SHRQ  $16, AX
	KMOVW AX, K2
	MOVQ  packing_store(R8), AX
	KMOVW AX, K3
	SHRQ  $16, AX
	KMOVW AX, K4

row:
	MOVQ SI, R9
	MOVQ DI, R10
	MOVQ packing_panels(R8), R11

panel:
	VMOVUPS.Z (R9), K1, Z0
	VMOVUPS.Z 64(R9), K2, Z1
	VMOVUPS   Z0, K3, (R10)
	VMOVUPS   Z1, K4, 64(R10)
	ADDQ      DX, R9
	ADDQ      R13, R10
	DECQ      R11
	JNZ       panel
	ADDQ      BX, SI
	ADDQ      DX, DI
	DECQ      CX
	JNZ       row
	VZEROUPPER
	RET

// NEXT loads 16 columns of a row and steps to the next one. After the last row
// it stays there: what lies behind is never read.
#define NEXT(x)              \
	VMOVUPS.Z (R9), K1, x \
	DECQ      R10         \
	CMOVQEQ   R12, R11    \
	ADDQ      R11, R9

// INTERLEAVE turns four rows into the four columns c, 4+c, 8+c, 12+c of each of
// which a 128-bit lane holds those rows' values.
#define INTERLEAVE(a, b, c, d, t0, t1, t2, t3) \
	VUNPCKLPS b, a, t0   \
	VUNPCKHPS b, a, t1   \
	VUNPCKLPS d, c, t2   \
	VUNPCKHPS d, c, t3   \
	VUNPCKLPD t2, t0, a  \
	VUNPCKHPD t2, t0, b  \
	VUNPCKLPD t3, t1, c  \
	VUNPCKHPD t3, t1, d

// GATHER joins the lanes of column c, 4+c, 8+c and 12+c and stores them from
// DI on, where DX is a row's bytes, R13 four rows' and R14 twelve rows'.
#define GATHER(a, b, c, d)           \
	VSHUFF32X4 $0x88, b, a, Z16   \
	VSHUFF32X4 $0x88, d, c, Z17   \
	VSHUFF32X4 $0xdd, b, a, Z18   \
	VSHUFF32X4 $0xdd, d, c, Z19   \
	VSHUFF32X4 $0x88, Z17, Z16, Z20 \
	VSHUFF32X4 $0x88, Z19, Z18, Z21 \
	VSHUFF32X4 $0xdd, Z17, Z16, Z22 \
	VSHUFF32X4 $0xdd, Z19, Z18, Z23 \
	VMOVUPS    Z20, K3, (DI)      \
	VMOVUPS    Z21, K3, (DI)(R13*1) \
	VMOVUPS    Z22, K3, (DI)(R13*2) \
	VMOVUPS    Z23, K3, (DI)(R14*1) \
	ADDQ       DX, DI

// func transposeAVX512(p *packing)
//
// Transposes rows (1 to 16) of count columns: column j becomes a row of dst. It
// stores whole groups of 16 columns, so up to 15 rows behind the last are
// overwritten.
TEXT ·transposeAVX512(SB), NOSPLIT, $0-8
	MOVQ  p+0(FP), R8
	MOVQ  packing_dst(R8), DI
	MOVQ  packing_src(R8), SI
	MOVQ  packing_count(R8), CX
	MOVQ  packing_dstStride(R8), DX
	MOVQ  packing_store(R8), AX
	KMOVW AX, K3
	LEAQ  (DX*4), R13
	LEAQ  (R13)(R13*2), R14
	XORQ  R12, R12

group:
	MOVL  $0xffff, AX
	CMPQ  CX, $16
	JGE   whole
	MOVL  $1, AX
	SHLL  CX, AX
	DECL  AX

whole:
	KMOVW AX, K1
	MOVQ  SI, R9
	MOVQ  packing_rows(R8), R10
	MOVQ  packing_srcStride(R8), R11
	NEXT(Z0)
	NEXT(Z1)
	NEXT(Z2)
	NEXT(Z3)
	NEXT(Z4)
	NEXT(Z5)
	NEXT(Z6)
	NEXT(Z7)
	NEXT(Z8)
	NEXT(Z9)
	NEXT(Z10)
	NEXT(Z11)
	NEXT(Z12)
	NEXT(Z13)
	NEXT(Z14)
	NEXT(Z15)
	INTERLEAVE(Z0, Z1, Z2, Z3, Z16, Z17, Z18, Z19)
	INTERLEAVE(Z4, Z5, Z6, Z7, Z20, Z21, Z22, Z23)
	INTERLEAVE(Z8, Z9, Z10, Z11, Z24, Z25, Z26, Z27)
	INTERLEAVE(Z12, Z13, Z14, Z15, Z28, Z29, Z30, Z31)
	GATHER(Z0, Z4, Z8, Z12)
	GATHER(Z1, Z5, Z9, Z13)
	GATHER(Z2, Z6, Z10, Z14)
	GATHER(Z3, Z7, Z11, Z15)
	ADDQ  R14, DI
	ADDQ  $64, SI
	SUBQ  $16, CX
	JG    group
	VZEROUPPER
	RET
