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
//	CX  first row of the result    DX  bytes between its rows
//	SI  steps of k left            DI  rows to load or store
//	K1, K2  columns in use of the left and of the right half

#define ROW(offset, x, left, right) \
	VBROADCASTSS offset(AX), x   \
	VFMADD231PS  Z24, x, left    \
	VFMADD231PS  Z25, x, right

#define COLUMNS(at) \
	VMOVUPS (at*128)(BX), Z24    \
	VMOVUPS (at*128+64)(BX), Z25

#define ROWS4(at)                 \
	ROW((at+0), Z26, Z0, Z1)   \
	ROW((at+4), Z27, Z2, Z3)   \
	ROW((at+8), Z28, Z4, Z5)   \
	ROW((at+12), Z29, Z6, Z7)

#define ROWS8(at)                  \
	ROWS4(at)                   \
	ROW((at+16), Z30, Z8, Z9)   \
	ROW((at+20), Z31, Z10, Z11) \
	ROW((at+24), Z26, Z12, Z13) \
	ROW((at+28), Z27, Z14, Z15)

#define ROWS12(at)                 \
	ROWS8(at)                   \
	ROW((at+32), Z28, Z16, Z17) \
	ROW((at+36), Z29, Z18, Z19) \
	ROW((at+40), Z30, Z20, Z21) \
	ROW((at+44), Z31, Z22, Z23)

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
	CMPQ R10, $8
	JEQ  eight
	JLT  four

twelve:
	SUBQ $4, SI
	JLT  twelveRest

twelveLoop:
	COLUMNS(0)
	ROWS12(0)
	COLUMNS(1)
	ROWS12(48)
	COLUMNS(2)
	ROWS12(96)
	COLUMNS(3)
	ROWS12(144)
	ADDQ $192, AX
	ADDQ $512, BX
	SUBQ $4, SI
	JGE  twelveLoop

twelveRest:
	ADDQ $4, SI
	JZ   store

twelveOne:
	COLUMNS(0)
	ROWS12(0)
	ADDQ $48, AX
	ADDQ $128, BX
	DECQ SI
	JNZ  twelveOne
	JMP  store

eight:
	COLUMNS(0)
	ROWS8(0)
	ADDQ $32, AX
	ADDQ $128, BX
	DECQ SI
	JNZ  eight
	JMP  store

four:
	COLUMNS(0)
	ROWS4(0)
	ADDQ $16, AX
	ADDQ $128, BX
	DECQ SI
	JNZ  four

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
