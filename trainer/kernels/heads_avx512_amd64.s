#include "go_asm.h"
#include "textflag.h"
#include "exponential_avx512_amd64.h"
#include "heads_avx512_amd64.h"

DATA positions<>+0(SB)/4, $0
DATA positions<>+4(SB)/4, $1
DATA positions<>+8(SB)/4, $2
DATA positions<>+12(SB)/4, $3
DATA positions<>+16(SB)/4, $4
DATA positions<>+20(SB)/4, $5
DATA positions<>+24(SB)/4, $6
DATA positions<>+28(SB)/4, $7
DATA positions<>+32(SB)/4, $8
DATA positions<>+36(SB)/4, $9
DATA positions<>+40(SB)/4, $10
DATA positions<>+44(SB)/4, $11
DATA positions<>+48(SB)/4, $12
DATA positions<>+52(SB)/4, $13
DATA positions<>+56(SB)/4, $14
DATA positions<>+60(SB)/4, $15
GLOBL positions<>(SB), RODATA|NOPTR, $64

// HEADS sets K3 to the heads and Z15 to the head of every position. It takes CX.
#define HEADS                               \
	MOVQ         AX, CX                 \
	MOVL         $1, R15                \
	SHLL         CX, R15                \
	DECL         R15                    \
	KMOVW        R15, K3                \
	LEAQ         -1(AX), R15            \
	VPBROADCASTD R15, Z15               \
	VPANDD       positions<>(SB), Z15, Z15

// SPREAD loads a value per head and gives every position that of its head.
#define SPREAD(from, OUT)            \
	VMOVUPS.Z from, K3, OUT      \
	VPERMPS   OUT, Z15, OUT

// ROWS loads what the loops over rows need: BX is the call, DI and SI are dst and
// x, R8 bytes lead from row to row, R11 from weights to weights, R13 is the number
// of values left.
#define ROWS                          \
	MOVQ headsCall_heads(BX), AX  \
	HEADS                         \
	LEAQ (AX*4), R11              \
	MOVQ headsCall_dst(BX), DI    \
	MOVQ headsCall_x(BX), SI      \
	MOVQ headsCall_stride(BX), R8 \
	MOVQ headsCall_values(BX), R13

// LIST begins the list of rows anew: R9 is the next one, R10 its weights, R12 how
// many are left.
#define LIST                           \
	MOVQ headsCall_rows(BX), R9    \
	MOVQ headsCall_weights(BX), R10 \
	MOVQ headsCall_count(BX), R12

// NEXT takes the offset of a row into DX and its weights into Z4.
#define NEXT                \
	MOVL  (R9), DX      \
	IMULQ R8, DX        \
	SPREAD((R10), Z4)   \
	ADDQ  $4, R9        \
	ADDQ  R11, R10

// func sumHeadRowsAVX512(c *headsCall)
TEXT ·sumHeadRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ   c+0(FP), BX
	ROWS
	KXNORW K1, K1, K1

wide:
	CMPQ   R13, $64
	JLT    narrow
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	LIST

row:
	NEXT
	VMULPS  (SI)(DX*1), Z4, Z5
	VMULPS  64(SI)(DX*1), Z4, Z6
	VMULPS  128(SI)(DX*1), Z4, Z7
	VMULPS  192(SI)(DX*1), Z4, Z8
	VADDPS  Z5, Z0, Z0
	VADDPS  Z6, Z1, Z1
	VADDPS  Z7, Z2, Z2
	VADDPS  Z8, Z3, Z3
	DECQ    R12
	JNZ     row
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	ADDQ    $256, DI
	ADDQ    $256, SI
	SUBQ    $64, R13
	JMP     wide

narrow:
	MOVQ R13, CX
	BEGIN(full, done)

full:
	VPXORD Z0, Z0, Z0
	LIST

part:
	NEXT
	VMOVUPS.Z (SI)(DX*1), K1, Z5
	VMULPS    Z5, Z4, Z5
	VADDPS    Z5, Z0, Z0
	DECQ      R12
	JNZ       part
	VMOVUPS   Z0, K1, (DI)
	ADDQ      $64, DI
	ADDQ      $64, SI
	SUBQ      $16, R13
	JMP       narrow

done:
	VZEROUPPER
	RET

// func addHeadRowsAVX512(c *headsCall)
TEXT ·addHeadRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ   c+0(FP), BX
	ROWS
	KXNORW K1, K1, K1

wide:
	CMPQ    R13, $64
	JLT     narrow
	VMOVUPS (SI), Z0
	VMOVUPS 64(SI), Z1
	VMOVUPS 128(SI), Z2
	VMOVUPS 192(SI), Z3
	LIST

row:
	NEXT
	VMULPS  Z0, Z4, Z5
	VMULPS  Z1, Z4, Z6
	VMULPS  Z2, Z4, Z7
	VMULPS  Z3, Z4, Z8
	VADDPS  (DI)(DX*1), Z5, Z5
	VADDPS  64(DI)(DX*1), Z6, Z6
	VADDPS  128(DI)(DX*1), Z7, Z7
	VADDPS  192(DI)(DX*1), Z8, Z8
	VMOVUPS Z5, (DI)(DX*1)
	VMOVUPS Z6, 64(DI)(DX*1)
	VMOVUPS Z7, 128(DI)(DX*1)
	VMOVUPS Z8, 192(DI)(DX*1)
	DECQ    R12
	JNZ     row
	ADDQ    $256, DI
	ADDQ    $256, SI
	SUBQ    $64, R13
	JMP     wide

narrow:
	MOVQ R13, CX
	BEGIN(full, done)

full:
	VMOVUPS.Z (SI), K1, Z0
	LIST

part:
	NEXT
	VMOVUPS.Z (DI)(DX*1), K1, Z6
	VMULPS    Z0, Z4, Z5
	VADDPS    Z6, Z5, Z5
	VMOVUPS   Z5, K1, (DI)(DX*1)
	DECQ      R12
	JNZ       part
	ADDQ      $64, DI
	ADDQ      $64, SI
	SUBQ      $16, R13
	JMP       narrow

done:
	VZEROUPPER
	RET

// func dotHeadRowsAVX512(c *headsCall)
//
// dst holds the rows, weights the results.
TEXT ·dotHeadRowsAVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), BX
	ROWS
	LIST

row:
	MOVL   (R9), DX
	IMULQ  R8, DX
	ADDQ   DI, DX
	MOVQ   SI, R14
	MOVQ   R13, CX
	VPXORD Z0, Z0, Z0
	KXNORW K1, K1, K1

columns:
	BEGIN(body, last)

body:
	VMOVUPS.Z (R14), K1, Z1
	VMOVUPS.Z (DX), K1, Z2
	VMULPS    Z2, Z1, Z1
	VADDPS    Z1, Z0, Z0
	ADDQ      $64, R14
	ADDQ      $64, DX
	SUBQ      $16, CX
	JMP       columns

last:
	FOLD(VADDPS, Z0, folded)

folded:
	VMOVUPS Z0, K3, (R10)
	ADDQ    $4, R9
	ADDQ    R11, R10
	DECQ    R12
	JNZ     row
	VZEROUPPER
	RET

// func permuteAVX512(c *permuteCall)
TEXT ·permuteAVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), BX
	MOVQ permuteCall_dst(BX), R8
	MOVQ permuteCall_src(BX), SI
	MOVQ permuteCall_dstStride(BX), R10
	MOVQ permuteCall_srcStride(BX), R11
	MOVQ permuteCall_rows(BX), R12

row:
	MOVQ   R8, DI
	MOVQ   permuteCall_order(BX), DX
	MOVQ   permuteCall_columns(BX), CX
	KXNORW K1, K1, K1

columns:
	BEGIN(body, next)

body:
	VMOVDQU32.Z (DX), K1, Z1
	KMOVW       K1, K2
	VPXORD      Z0, Z0, Z0
	VGATHERDPS  (SI)(Z1*4), K2, Z0
	VMOVUPS     Z0, K1, (DI)
	ADDQ        $64, DI
	ADDQ        $64, DX
	SUBQ        $16, CX
	JMP         columns

next:
	ADDQ R10, R8
	ADDQ R11, SI
	DECQ R12
	JNZ  row
	VZEROUPPER
	RET

// PICK stores the columns that an order names, out of Z0 to Z3.
#define PICK(order, offset, K)        \
	VMOVAPS   order, Z4           \
	VPERMI2PS Z1, Z0, Z4          \
	VMOVAPS   order, Z5           \
	VPERMI2PS Z3, Z2, Z5          \
	VPTESTMD  Z6, order, K5       \
	VMOVAPS   Z5, K5, Z4          \
	VMOVUPS   Z4, K, offset(DI)

// func permuteNarrowAVX512(c *permuteCall)
//
// A row fits into four registers, and the order of its columns into four more.
TEXT ·permuteNarrowAVX512(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), BX
	MOVQ permuteCall_dst(BX), DI
	MOVQ permuteCall_src(BX), SI
	MOVQ permuteCall_dstStride(BX), R10
	MOVQ permuteCall_srcStride(BX), R11
	MOVQ permuteCall_rows(BX), R12
	MOVQ permuteCall_order(BX), DX
	MOVQ permuteCall_columns(BX), R9
	MASK(R9, K1)
	SUBQ $16, R9
	MASK(R9, K2)
	SUBQ $16, R9
	MASK(R9, K3)
	SUBQ $16, R9
	MASK(R9, K4)
	VMOVDQU32.Z (DX), K1, Z16
	VMOVDQU32.Z 64(DX), K2, Z17
	VMOVDQU32.Z 128(DX), K3, Z18
	VMOVDQU32.Z 192(DX), K4, Z19

	// Columns from 32 on lie in Z2 and Z3.
	MOVL         $32, AX
	VPBROADCASTD AX, Z6

row:
	VMOVUPS.Z (SI), K1, Z0
	VMOVUPS.Z 64(SI), K2, Z1
	VMOVUPS.Z 128(SI), K3, Z2
	VMOVUPS.Z 192(SI), K4, Z3
	PICK(Z16, 0, K1)
	PICK(Z17, 64, K2)
	PICK(Z18, 128, K3)
	PICK(Z19, 192, K4)
	ADDQ R10, DI
	ADDQ R11, SI
	DECQ R12
	JNZ  row
	VZEROUPPER
	RET

// PAIRS loads what the loops over pairs need: BX is the call, R8 bytes lead from
// row to row, R9 is the next one, R10 its scores, R11 bytes lead to the next, R12 is
// how many are left.
#define PAIRS                             \
	MOVQ         Pairs_Heads(BX), AX  \
	HEADS                             \
	LEAQ         (AX*4), R11          \
	MOVQ         Pairs_Left+8(BX), R8 \
	SHLQ         $2, R8               \
	MOVQ         Pairs_Rows+0(BX), R9 \
	MOVQ         Pairs_Rows+8(BX), R12 \
	VBROADCASTSS Pairs_Slope(BX), Z5  \
	VPXORD       Z4, Z4, Z4

// func pairScoresAVX512(p *Pairs, scores *float32)
TEXT ·pairScoresAVX512(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), BX
	MOVQ scores+8(FP), R10
	PAIRS

row:
	MOVL   (R9), SI
	IMULQ  R8, SI
	ADDQ   Pairs_Left+16(BX), SI
	MOVQ   Pairs_Right+0(BX), DX
	MOVQ   Pairs_Vector+0(BX), DI
	MOVQ   Pairs_Vector+8(BX), CX
	VPXORD Z0, Z0, Z0
	KXNORW K1, K1, K1

columns:
	BEGIN(body, last)

body:
	VMOVUPS.Z (SI), K1, Z1
	VMOVUPS.Z (DX), K1, Z2
	VMOVUPS.Z (DI), K1, Z3
	VADDPS    Z2, Z1, Z1
	VCMPPS    $0x1a, Z4, Z1, K2 // not above 0
	VMULPS    Z5, Z1, K2, Z1
	VMULPS    Z3, Z1, Z1
	VADDPS    Z1, Z0, Z0
	ADDQ      $64, SI
	ADDQ      $64, DX
	ADDQ      $64, DI
	SUBQ      $16, CX
	JMP       columns

last:
	FOLD(VADDPS, Z0, folded)

folded:
	VMOVUPS Z0, K3, (R10)
	ADDQ    $4, R9
	ADDQ    R11, R10
	DECQ    R12
	JNZ     row
	VZEROUPPER
	RET

// func pairScoresGradAVX512(p *Pairs, grad *float32)
TEXT ·pairScoresGradAVX512(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), BX
	MOVQ grad+8(FP), R10
	PAIRS

row:
	SPREAD((R10), Z6)
	MOVL   (R9), SI
	IMULQ  R8, SI
	MOVQ   SI, R13
	ADDQ   Pairs_Left+16(BX), SI
	ADDQ   Pairs_GradLeft+16(BX), R13
	MOVQ   Pairs_Right+0(BX), DX
	MOVQ   Pairs_GradRight+0(BX), R14
	MOVQ   Pairs_Vector+0(BX), DI
	MOVQ   Pairs_GradVector+0(BX), AX
	MOVQ   Pairs_Vector+8(BX), CX
	KXNORW K1, K1, K1

columns:
	BEGIN(body, next)

body:
	VMOVUPS.Z (SI), K1, Z1
	VMOVUPS.Z (DX), K1, Z2
	VMOVUPS.Z (DI), K1, Z3
	VADDPS    Z2, Z1, Z1
	VCMPPS    $0x1a, Z4, Z1, K2 // not above 0
	VMULPS    Z5, Z1, K2, Z1
	VMULPS    Z1, Z6, Z1
	VMOVUPS.Z (AX), K1, Z7
	VADDPS    Z1, Z7, Z7
	VMOVUPS   Z7, K1, (AX)
	VMOVAPS   Z6, Z2
	VMULPS    Z5, Z6, K2, Z2
	VMULPS    Z3, Z2, Z2
	VMOVUPS.Z (R13), K1, Z7
	VMOVUPS.Z (R14), K1, Z8
	VADDPS    Z2, Z7, Z7
	VADDPS    Z2, Z8, Z8
	VMOVUPS   Z7, K1, (R13)
	VMOVUPS   Z8, K1, (R14)
	ADDQ      $64, SI
	ADDQ      $64, DX
	ADDQ      $64, DI
	ADDQ      $64, AX
	ADDQ      $64, R13
	ADDQ      $64, R14
	SUBQ      $16, CX
	JMP       columns

next:
	ADDQ $4, R9
	ADDQ R11, R10
	DECQ R12
	JNZ  row
	VZEROUPPER
	RET
