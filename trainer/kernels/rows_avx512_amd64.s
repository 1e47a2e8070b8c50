#include "go_asm.h"
#include "textflag.h"
#include "tail_avx512_amd64.h"

// LIST begins a list: R9 is its next row, R10 that one's weight, R12 how many are
// left.
#define LIST                             \
	MOVQ  (BX), DX                   \
	MOVQ  8(BX), R12                 \
	SUBQ  DX, R12                    \
	MOVQ  rowsCall_rows(AX), R9      \
	LEAQ  (R9)(DX*4), R9             \
	MOVQ  rowsCall_weights(AX), R10  \
	IMULQ R11, DX                    \
	ADDQ  DX, R10

// NEXT takes the offset of a row into DX and its weight into Z4.
#define NEXT                        \
	MOVL         (R9), DX       \
	IMULQ        R8, DX         \
	VBROADCASTSS (R10), Z4      \
	ADDQ         $4, R9         \
	ADDQ         R11, R10

// func sumRowsAVX512(c *rowsCall)
//
// 64 columns at a time stay in registers while the rows of a list pass by.
TEXT ·sumRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), AX
	MOVQ rowsCall_stride(AX), R8
	MOVQ rowsCall_step(AX), R11
	MOVQ rowsCall_starts(AX), BX

list:
	MOVQ   rowsCall_dst(AX), DI
	MOVQ   rowsCall_x(AX), SI
	MOVQ   rowsCall_values(AX), R13
	KXNORW K1, K1, K1

wide:
	CMPQ   R13, $64
	JLT    narrow
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	LIST
	TESTQ  R12, R12
	JZ     store

row:
	NEXT
	VFMADD231PS (SI)(DX*1), Z4, Z0
	VFMADD231PS 64(SI)(DX*1), Z4, Z1
	VFMADD231PS 128(SI)(DX*1), Z4, Z2
	VFMADD231PS 192(SI)(DX*1), Z4, Z3
	DECQ        R12
	JNZ         row

store:
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	ADDQ    $256, DI
	ADDQ    $256, SI
	SUBQ    $64, R13
	JMP     wide

narrow:
	CMPQ  R13, $16
	JGE   full
	TESTQ R13, R13
	JLE   next
	MOVQ  R13, CX
	TAIL

full:
	VPXORD Z0, Z0, Z0
	LIST
	TESTQ  R12, R12
	JZ     storePart

part:
	NEXT
	VMOVUPS.Z   (SI)(DX*1), K1, Z5
	VFMADD231PS Z5, Z4, Z0
	DECQ        R12
	JNZ         part

storePart:
	VMOVUPS Z0, K1, (DI)
	ADDQ    $64, DI
	ADDQ    $64, SI
	SUBQ    $16, R13
	JMP     narrow

next:
	MOVQ rowsCall_dstStride(AX), DX
	ADDQ DX, rowsCall_dst(AX)
	ADDQ $8, BX
	DECQ rowsCall_lists(AX)
	JNZ  list
	VZEROUPPER
	RET

// func addRowsAVX512(c *addRowsCall)
TEXT ·addRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ   c+0(FP), AX
	MOVQ   addRowsCall_dst(AX), DI
	MOVQ   addRowsCall_x(AX), SI
	MOVQ   addRowsCall_y(AX), DX
	MOVQ   addRowsCall_dstStride(AX), R8
	MOVQ   addRowsCall_xStride(AX), R9
	MOVQ   addRowsCall_yStride(AX), R10
	MOVQ   addRowsCall_rows(AX), R11
	MOVQ   addRowsCall_values(AX), R12
	MOVQ   R12, CX
	ANDQ   $15, CX
	SUBQ   CX, R12
	SHLQ   $2, R12
	TAIL

row:
	XORQ BX, BX
	JMP  test

group:
	VMOVUPS (SI)(BX*1), Z0
	VADDPS  (DX)(BX*1), Z0, Z0
	VMOVUPS Z0, (DI)(BX*1)
	ADDQ    $64, BX

test:
	CMPQ  BX, R12
	JLT   group
	TESTQ CX, CX
	JZ    next
	VMOVUPS.Z (SI)(BX*1), K1, Z0
	VMOVUPS.Z (DX)(BX*1), K1, Z1
	VADDPS    Z1, Z0, Z0
	VMOVUPS   Z0, K1, (DI)(BX*1)

next:
	ADDQ R8, DI
	ADDQ R9, SI
	ADDQ R10, DX
	DECQ R11
	JNZ  row
	VZEROUPPER
	RET
