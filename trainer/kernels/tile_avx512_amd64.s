#include "go_asm.h"
#include "textflag.h"

// The AVX-512 tile: up to 12 rows by 32 columns of the result stay in the
// registers Z0-Z23 (two per row) while k runs. A step of k loads 32 columns of
// the panel of b (Z24, Z25), broadcasts one value of a per row (Z26-Z31 in turn)
// and does two fused multiply-adds per row: 24 of them for 14 loads, which keeps
// both multiply units busy. Every element is one chain of fused steps in
// ascending k, so its bits do not depend on the tile that it lies in.
//
//	AX  panel of a, k × height     BX  panel of b, k × 32
//	R12 bytes between steps of a   R11 bytes between steps of b
//	CX  first row of the result    DX  bytes between its rows
//	SI  steps of k left            DI  rows to load or store
//	K1, K2  columns in use of the left and of the right half

#define ROW(offset, x, left, right) \
	VBROADCASTSS offset(AX), x   \
	VFMADD231PS  Z24, x, left    \
	VFMADD231PS  Z25, x, right

#define COLUMNS                   \
	VMOVUPS.Z (BX), K1, Z24   \
	VMOVUPS.Z 64(BX), K2, Z25

// STEP goes on to the next k.
#define STEP           \
	ADDQ R12, AX   \
	ADDQ R11, BX

#define ROWS4                  \
	ROW(0, Z26, Z0, Z1)    \
	ROW(4, Z27, Z2, Z3)    \
	ROW(8, Z28, Z4, Z5)    \
	ROW(12, Z29, Z6, Z7)

#define ROWS8                  \
	ROWS4                  \
	ROW(16, Z30, Z8, Z9)   \
	ROW(20, Z31, Z10, Z11) \
	ROW(24, Z26, Z12, Z13) \
	ROW(28, Z27, Z14, Z15)

#define ROWS12                 \
	ROWS8                  \
	ROW(32, Z28, Z16, Z17) \
	ROW(36, Z29, Z18, Z19) \
	ROW(40, Z30, Z20, Z21) \
	ROW(44, Z31, Z22, Z23)

// HALF4 and so on leave out the right half.
#define HALF4                               \
	VFMADD231PS.BCST 0(AX), Z24, Z0     \
	VFMADD231PS.BCST 4(AX), Z24, Z2     \
	VFMADD231PS.BCST 8(AX), Z24, Z4     \
	VFMADD231PS.BCST 12(AX), Z24, Z6

#define HALF8                               \
	HALF4                               \
	VFMADD231PS.BCST 16(AX), Z24, Z8    \
	VFMADD231PS.BCST 20(AX), Z24, Z10   \
	VFMADD231PS.BCST 24(AX), Z24, Z12   \
	VFMADD231PS.BCST 28(AX), Z24, Z14

#define HALF12                              \
	HALF8                               \
	VFMADD231PS.BCST 32(AX), Z24, Z16   \
	VFMADD231PS.BCST 36(AX), Z24, Z18   \
	VFMADD231PS.BCST 40(AX), Z24, Z20   \
	VFMADD231PS.BCST 44(AX), Z24, Z22

// LOAD and STORE move one row of the result and leave at done after the last.
#define LOAD(left, right, done)      \
	VMOVUPS.Z (CX), K1, left      \
	VMOVUPS.Z 64(CX), K2, right   \
	ADDQ      DX, CX              \
	DECQ      DI                  \
	JZ        done

#define STORE(left, right, done)     \
	VMOVUPS left, K1, (CX)        \
	VMOVUPS right, K2, 64(CX)     \
	ADDQ    DX, CX                \
	DECQ    DI                    \
	JZ      done

#define CLEAR(left, right)         \
	VPXORD left, left, left     \
	VPXORD right, right, right

// func tileAVX512(t *tile)
TEXT ·tileAVX512(SB), NOSPLIT, $0-8
	MOVQ  t+0(FP), R8
	MOVQ  tile_a(R8), AX
	MOVQ  tile_b(R8), BX
	MOVQ  tile_c(R8), CX
	MOVQ  tile_k(R8), SI
	MOVQ  tile_bStep(R8), R11
	MOVQ  tile_aStep(R8), R12
	MOVQ  tile_stride(R8), DX
	MOVQ  tile_rows(R8), DI
	MOVQ  tile_mask(R8), R9
	KMOVW R9, K1
	SHRQ  $16, R9
	KMOVW R9, K2
	CLEAR(Z0, Z1)
	CLEAR(Z2, Z3)
	CLEAR(Z4, Z5)
	CLEAR(Z6, Z7)
	CLEAR(Z8, Z9)
	CLEAR(Z10, Z11)
	CLEAR(Z12, Z13)
	CLEAR(Z14, Z15)
	CLEAR(Z16, Z17)
	CLEAR(Z18, Z19)
	CLEAR(Z20, Z21)
	CLEAR(Z22, Z23)
	MOVQ  tile_add(R8), R10
	TESTQ R10, R10
	JZ    start
	LOAD(Z0, Z1, start)
	LOAD(Z2, Z3, start)
	LOAD(Z4, Z5, start)
	LOAD(Z6, Z7, start)
	LOAD(Z8, Z9, start)
	LOAD(Z10, Z11, start)
	LOAD(Z12, Z13, start)
	LOAD(Z14, Z15, start)
	LOAD(Z16, Z17, start)
	LOAD(Z18, Z19, start)
	LOAD(Z20, Z21, start)
	LOAD(Z22, Z23, start)

start:
	MOVQ tile_c(R8), CX
	MOVQ tile_rows(R8), DI
	MOVQ tile_height(R8), R10
	KTESTW K2, K2
	JZ   half
	CMPQ R10, $8
	JEQ  eight
	JLT  four

twelve:
	COLUMNS
	ROWS12
	STEP
	DECQ SI
	JNZ  twelve
	JMP  store

eight:
	COLUMNS
	ROWS8
	STEP
	DECQ SI
	JNZ  eight
	JMP  store

four:
	COLUMNS
	ROWS4
	STEP
	DECQ SI
	JNZ  four
	JMP  store

half:
	CMPQ R10, $8
	JEQ  eightHalf
	JLT  fourHalf

twelveHalf:
	VMOVUPS.Z (BX), K1, Z24
	HALF12
	STEP
	DECQ SI
	JNZ  twelveHalf
	JMP  store

eightHalf:
	VMOVUPS.Z (BX), K1, Z24
	HALF8
	STEP
	DECQ SI
	JNZ  eightHalf
	JMP  store

fourHalf:
	VMOVUPS.Z (BX), K1, Z24
	HALF4
	STEP
	DECQ SI
	JNZ  fourHalf

store:
	STORE(Z0, Z1, done)
	STORE(Z2, Z3, done)
	STORE(Z4, Z5, done)
	STORE(Z6, Z7, done)
	STORE(Z8, Z9, done)
	STORE(Z10, Z11, done)
	STORE(Z12, Z13, done)
	STORE(Z14, Z15, done)
	STORE(Z16, Z17, done)
	STORE(Z18, Z19, done)
	STORE(Z20, Z21, done)
	STORE(Z22, Z23, done)

done:
	VZEROUPPER
	RET
