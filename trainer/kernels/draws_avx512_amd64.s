#include "go_asm.h"
#include "textflag.h"
#include "tail_avx512_amd64.h"

// MIX is Mix of the 8 values in X. T is free.
#define MIX(X, T)             \
	VPSRLQ  $30, X, T     \
	VPXORQ  T, X, X       \
	VPMULLQ Z18, X, X     \
	VPSRLQ  $27, X, T     \
	VPXORQ  T, X, X       \
	VPMULLQ Z19, X, X     \
	VPSRLQ  $31, X, T     \
	VPXORQ  T, X, X

// UPPER leaves the upper halves of the draws for 8 keys in memory in X.
#define UPPER(keys, X, T)     \
	VPXORQ keys, Z16, X   \
	MIX(X, T)             \
	VPSRLQ $32, X, X

// CONSTANTS are those of MIX.
#define CONSTANTS                    \
	MOVQ         $const_mixFirst, AX \
	VPBROADCASTQ AX, Z18         \
	MOVQ         $const_mixSecond, AX \
	VPBROADCASTQ AX, Z19

// FOUND appends the positions of the bits of AX, 0 standing for R8.
#define FOUND(next, last)      \
	TESTQ  AX, AX          \
	JZ     last            \
next:                          \
	BSFQ   AX, DX          \
	ADDQ   R8, DX          \
	MOVL   DX, (DI)        \
	ADDQ   $4, DI          \
	LEAQ   -1(AX), DX      \
	ANDQ   DX, AX          \
	JNZ    next            \
last:

// func belowAVX512(into *uint32, keys *uint64, n int, key, limit uint64) int
//
// Hits are rare where it matters, so they leave the registers one by one.
TEXT ·belowAVX512(SB), NOSPLIT, $0-48
	MOVQ         into+0(FP), DI
	MOVQ         keys+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTQ key+24(FP), Z16
	VPBROADCASTQ limit+32(FP), Z17
	CONSTANTS
	MOVQ         DI, R9
	XORQ         R8, R8
	JMP          four

body:
	UPPER((SI), Z0, Z1)
	UPPER(64(SI), Z2, Z3)
	UPPER(128(SI), Z4, Z5)
	UPPER(192(SI), Z6, Z7)
	VPCMPUQ  $1, Z17, Z0, K1
	VPCMPUQ  $1, Z17, Z2, K2
	VPCMPUQ  $1, Z17, Z4, K3
	VPCMPUQ  $1, Z17, Z6, K4
	KUNPCKBW K1, K2, K1
	KUNPCKBW K3, K4, K3
	KMOVW    K1, AX
	KMOVW    K3, DX
	SHLL     $16, DX
	ORL      DX, AX
	FOUND(bit, none)
	ADDQ     $256, SI
	ADDQ     $32, R8
	SUBQ     $32, CX

four:
	CMPQ   CX, $32
	JGE    body
	KXNORW K1, K1, K1

one:
	CMPQ  CX, $8
	JGE   some
	TESTQ CX, CX
	JLE   done
	TAIL

some:
	VMOVDQU64.Z (SI), K1, Z0
	UPPER(Z0, Z0, Z1)
	VPCMPUQ     $1, Z17, Z0, K1, K2
	KMOVB       K2, AX
	FOUND(lastBit, lastNone)
	ADDQ        $64, SI
	ADDQ        $8, R8
	SUBQ        $8, CX
	JMP         one

done:
	SUBQ DI, R9
	NEGQ R9
	SHRQ $2, R9
	MOVQ R9, ret+40(FP)
	VZEROUPPER
	RET

// func maskAVX512(mask *float32, n int, key uint64, limit uint32, rest float32)
//
// Z0 holds the values that 8 pairs of columns mix. Their draws lie in the order of
// the columns.
TEXT ·maskAVX512(SB), NOSPLIT, $0-32
	MOVQ         mask+0(FP), DI
	MOVQ         n+8(FP), CX
	MOVL         limit+24(FP), AX
	VPBROADCASTD AX, Z16
	VBROADCASTSS rest+28(FP), Z17
	CONSTANTS
	// key + mixStep·(1, …, 8), and 8·mixStep for the next ones.
	VPMOVZXBQ    ·pairNumbers(SB), Z0
	MOVQ         $const_mixStep, AX
	VPBROADCASTQ AX, Z2
	VPMULLQ      Z2, Z0, Z0
	VPSLLQ       $3, Z2, Z2
	VPBROADCASTQ key+16(FP), Z1
	VPADDQ       Z1, Z0, Z0
	KXNORW       K1, K1, K1

group:
	CMPQ  CX, $16
	JGE   body
	TESTQ CX, CX
	JLE   done
	TAIL

body:
	VMOVDQA64 Z0, Z1
	MIX(Z1, Z3)
	VPCMPUD   $5, Z16, Z1, K2
	VMOVUPS.Z Z17, K2, Z1
	VMOVUPS   Z1, K1, (DI)
	VPADDQ    Z2, Z0, Z0
	ADDQ      $64, DI
	SUBQ      $16, CX
	JMP       group

done:
	VZEROUPPER
	RET

// func maskColumnsAVX512(c *maskCall)
TEXT ·maskColumnsAVX512(SB), NOSPLIT, $0-8
	MOVQ         c+0(FP), BX
	MOVQ         maskCall_dst(BX), DI
	MOVQ         maskCall_values(BX), SI
	MOVQ         maskCall_columns(BX), DX
	MOVQ         maskCall_count(BX), CX
	VPBROADCASTQ maskCall_key(BX), Z16
	VPBROADCASTD maskCall_limit(BX), Y17
	VBROADCASTSS maskCall_rest(BX), Y20
	CONSTANTS
	MOVQ         $const_mixStep, AX
	VPBROADCASTQ AX, Z21
	MOVL         $1, AX
	VPBROADCASTQ AX, Z22
	KXNORW       K1, K1, K1

group:
	CMPQ  CX, $8
	JGE   body
	TESTQ CX, CX
	JLE   done
	TAIL

body:
	VMOVDQU32.Z (DX), K1, Y0
	VPMOVZXDQ   Y0, Z0
	VPSRLQ      $1, Z0, Z1
	VPADDQ      Z22, Z1, Z1
	VPMULLQ     Z21, Z1, Z1
	VPADDQ      Z16, Z1, Z1
	MIX(Z1, Z2)

	// The draw of an odd column is the upper half.
	VPANDQ    Z22, Z0, Z0
	VPSLLQ    $5, Z0, Z0
	VPSRLVQ   Z0, Z1, Z1
	VPMOVQD   Z1, Y1
	VPCMPUD   $5, Y17, Y1, K2
	VMOVUPS.Z (SI), K1, Y0
	VMULPS    Y20, Y0, Y0
	VMOVUPS.Z Y0, K2, Y0
	VMOVUPS   Y0, K1, (DI)
	ADDQ      $32, DI
	ADDQ      $32, SI
	ADDQ      $32, DX
	SUBQ      $8, CX
	JMP       group

done:
	VZEROUPPER
	RET

DATA ·pairNumbers+0(SB)/8, $0x0807060504030201
GLOBL ·pairNumbers(SB), RODATA|NOPTR, $8
