// Masks of the values that exist in the last group of 16.

// TAIL sets K1 to the CX (under 16) lowest bits.
#define TAIL            \
	MOVL  $1, R15    \
	SHLL  CX, R15    \
	DECL  R15        \
	KMOVW R15, K1

// MASK masks as many of 16 values as n says, none if it is not positive, all if it
// is 16 or more. n is none of CX and AX.
#define MASK(n, K)                    \
	XORQ    CX, CX                \
	TESTQ   n, n                  \
	CMOVQGT n, CX                 \
	MOVQ    $16, AX               \
	CMPQ    CX, AX                \
	CMOVQGT AX, CX                \
	MOVL    $1, AX                \
	SHLL    CX, AX                \
	DECL    AX                    \
	KMOVW   AX, K
