#include "go_asm.h"
#include "textflag.h"

// BEGIN loads what both loops need: DI is dst, SI is x, R8 bytes lead from row to
// row, R13 is the number of values left.

#define BEGIN                  \
	MOVQ rowsCall_dst(AX), DI    \
	MOVQ rowsCall_x(AX), SI      \
	MOVQ rowsCall_stride(AX), R8 \
	MOVQ rowsCall_step(AX), R11  \
	MOVQ rowsCall_values(AX), R13

// LIST begins the list of rows anew: R9 is the next one, R10 its weight, R12 how
// many are left.

#define LIST                    \
	MOVQ rowsCall_rows(AX), R9    \
	MOVQ rowsCall_weights(AX), R10 \
	MOVQ rowsCall_count(AX), R12

// NEXT takes the offset of a row into DX and its weight into Z4.

#define NEXT                  \
	MOVL         (R9), DX       \
	IMULQ        R8, DX         \
	VBROADCASTSS (R10), Z4      \
	ADDQ         $4, R9         \
	ADDQ         R11, R10

// func sumRowsAVX512(c *rowsCall)
//
// 64 columns at a time stay in registers while the rows pass by.
TEXT ·sumRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ   c+0(FP), AX
	BEGIN
	KXNORW K1, K1, K1

wide:
	CMPQ   R13, $64
	JLT    group
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	LIST

row:
	NEXT
	VFMADD231PS (SI)(DX*1), Z4, Z0
	VFMADD231PS 64(SI)(DX*1), Z4, Z1
	VFMADD231PS 128(SI)(DX*1), Z4, Z2
	VFMADD231PS 192(SI)(DX*1), Z4, Z3
	DECQ        R12
	JNZ         row
	VMOVUPS     Z0, (DI)
	VMOVUPS     Z1, 64(DI)
	VMOVUPS     Z2, 128(DI)
	VMOVUPS     Z3, 192(DI)
	ADDQ        $256, DI
	ADDQ        $256, SI
	SUBQ        $64, R13
	JMP         wide

group:
	CMPQ  R13, $16
	JGE   full
	TESTQ R13, R13
	JLE   done
	MOVQ  R13, CX
	MOVL  $1, R15
	SHLL  CX, R15
	DECL  R15
	KMOVW R15, K1

full:
	VPXORD Z0, Z0, Z0
	LIST

part:
	NEXT
	VMOVUPS.Z   (SI)(DX*1), K1, Z5
	VFMADD231PS Z5, Z4, Z0
	DECQ        R12
	JNZ         part
	VMOVUPS     Z0, K1, (DI)
	ADDQ        $64, DI
	ADDQ        $64, SI
	SUBQ        $16, R13
	JMP         group

done:
	VZEROUPPER
	RET

// func addRowsAVX512(c *rowsCall)
TEXT ·addRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ   c+0(FP), AX
	BEGIN
	KXNORW K1, K1, K1

wide:
	CMPQ    R13, $64
	JLT     group
	VMOVUPS (SI), Z0
	VMOVUPS 64(SI), Z1
	VMOVUPS 128(SI), Z2
	VMOVUPS 192(SI), Z3
	LIST

row:
	NEXT
	VMOVUPS     (DI)(DX*1), Z5
	VMOVUPS     64(DI)(DX*1), Z6
	VMOVUPS     128(DI)(DX*1), Z7
	VMOVUPS     192(DI)(DX*1), Z8
	VFMADD231PS Z0, Z4, Z5
	VFMADD231PS Z1, Z4, Z6
	VFMADD231PS Z2, Z4, Z7
	VFMADD231PS Z3, Z4, Z8
	VMOVUPS     Z5, (DI)(DX*1)
	VMOVUPS     Z6, 64(DI)(DX*1)
	VMOVUPS     Z7, 128(DI)(DX*1)
	VMOVUPS     Z8, 192(DI)(DX*1)
	DECQ        R12
	JNZ         row
	ADDQ        $256, DI
	ADDQ        $256, SI
	SUBQ        $64, R13
	JMP         wide

group:
	CMPQ  R13, $16
	JGE   full
	TESTQ R13, R13
	JLE   done
	MOVQ  R13, CX
	MOVL  $1, R15
	SHLL  CX, R15
	DECL  R15
	KMOVW R15, K1

full:
	VMOVUPS.Z (SI), K1, Z0
	LIST

part:
	NEXT
	VMOVUPS.Z   (DI)(DX*1), K1, Z5
	VFMADD231PS Z0, Z4, Z5
	VMOVUPS     Z5, K1, (DI)(DX*1)
	DECQ        R12
	JNZ         part
	ADDQ        $64, DI
	ADDQ        $64, SI
	SUBQ        $16, R13
	JMP         group

done:
	VZEROUPPER
	RET
