#include "go_asm.h"
#include "textflag.h"

// Eight lanes of ones and eight of zeros: read 4·(8−n) bytes in, they mask n
// columns.
DATA columnMask<>+0(SB)/8, $-1
DATA columnMask<>+8(SB)/8, $-1
DATA columnMask<>+16(SB)/8, $-1
DATA columnMask<>+24(SB)/8, $-1
DATA columnMask<>+32(SB)/8, $0
DATA columnMask<>+40(SB)/8, $0
DATA columnMask<>+48(SB)/8, $0
DATA columnMask<>+56(SB)/8, $0
GLOBL columnMask<>(SB), RODATA|NOPTR, $64

// The AVX2 tile is built as the AVX-512 one is: 6 rows by 16 columns in Y0-Y11,
// columns of b in Y12 and Y13, values of a in Y14 and Y15.

#define ROW(offset, x, left, right) \
	VBROADCASTSS offset(AX), x   \
	VFMADD231PS  Y12, x, left    \
	VFMADD231PS  Y13, x, right

#define LOAD(left, right, done)      \
	VMASKMOVPS (CX), Y12, left    \
	VMASKMOVPS 32(CX), Y13, right \
	ADDQ       DX, CX             \
	DECQ       DI                 \
	JZ         done

#define STORE(left, right, done)     \
	VMASKMOVPS left, Y12, (CX)    \
	VMASKMOVPS right, Y13, 32(CX) \
	ADDQ       DX, CX             \
	DECQ       DI                 \
	JZ         done

// MASKS sets Y12 and Y13 to the columns in use of the left and the right half.
#define MASKS                        \
	LEAQ    columnMask<>+32(SB), R11 \
	MOVQ    R9, R10               \
	ANDQ    $0xff, R10            \
	POPCNTQ R10, R10              \
	SHLQ    $2, R10               \
	NEGQ    R10                   \
	VMOVUPS (R11)(R10*1), Y12     \
	MOVQ    R9, R10               \
	SHRQ    $8, R10               \
	POPCNTQ R10, R10              \
	SHLQ    $2, R10               \
	NEGQ    R10                   \
	VMOVUPS (R11)(R10*1), Y13

// func tileAVX2(t *tile)
TEXT ·tileAVX2(SB), NOSPLIT, $0-8
	MOVQ   t+0(FP), R8
	MOVQ   tile_a(R8), AX
	MOVQ   tile_b(R8), BX
	MOVQ   tile_c(R8), CX
	MOVQ   tile_k(R8), SI
	MOVQ   tile_stride(R8), DX
	MOVQ   tile_rows(R8), DI
	MOVQ   tile_mask(R8), R9
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	MOVQ   tile_add(R8), R10
	TESTQ  R10, R10
	JZ     start
	MASKS
	LOAD(Y0, Y1, start)
	LOAD(Y2, Y3, start)
	LOAD(Y4, Y5, start)
	LOAD(Y6, Y7, start)
	LOAD(Y8, Y9, start)
	LOAD(Y10, Y11, start)

start:
	MOVQ tile_c(R8), CX
	MOVQ tile_rows(R8), DI

step:
	VMOVUPS (BX), Y12
	VMOVUPS 32(BX), Y13
	ROW(0, Y14, Y0, Y1)
	ROW(4, Y15, Y2, Y3)
	ROW(8, Y14, Y4, Y5)
	ROW(12, Y15, Y6, Y7)
	ROW(16, Y14, Y8, Y9)
	ROW(20, Y15, Y10, Y11)
	ADDQ    $24, AX
	ADDQ    $64, BX
	DECQ    SI
	JNZ     step
	MASKS
	STORE(Y0, Y1, done)
	STORE(Y2, Y3, done)
	STORE(Y4, Y5, done)
	STORE(Y6, Y7, done)
	STORE(Y8, Y9, done)
	STORE(Y10, Y11, done)

done:
	VZEROUPPER
	RET

// func axpyAVX2(dst, x *float32, n int, alpha float32)
TEXT ·axpyAVX2(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS alpha+24(FP), Y2
	SUBQ         $8, CX
	JLT          rest

group:
	VMOVUPS     (DI), Y0
	VFMADD231PS (SI), Y2, Y0
	VMOVUPS     Y0, (DI)
	ADDQ        $32, DI
	ADDQ        $32, SI
	SUBQ        $8, CX
	JGE         group

rest:
	ADDQ $8, CX
	JZ   done

one:
	VMOVSS      (DI), X0
	VFMADD231SS (SI), X2, X0
	VMOVSS      X0, (DI)
	ADDQ        $4, DI
	ADDQ        $4, SI
	DECQ        CX
	JNZ         one

done:
	VZEROUPPER
	RET
