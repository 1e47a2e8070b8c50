// What the loops with e^x and those with heads share.

#include "tail_avx512_amd64.h"

#define CONSTANT(bits, Z) \
	MOVL         $bits, R15 \
	VPBROADCASTD R15, Z

// EXPONENTIALS loads the constants of EXPONENTIAL into Z16 to Z28.
#define EXPONENTIALS            \
	CONSTANT(0x3fb8aa3b, Z16) \ // log2 e
	CONSTANT(0x3f000000, Z17) \ // 1/2
	CONSTANT(0x3f318000, Z18) \ // ln 2, high part
	CONSTANT(0xb95e8083, Z19) \ // ln 2, low part
	CONSTANT(0x3ab60b61, Z20) \ // 1/720
	CONSTANT(0x3c088889, Z21) \ // 1/120
	CONSTANT(0x3d2aaaab, Z22) \ // 1/24
	CONSTANT(0x3e2aaaab, Z23) \ // 1/6
	CONSTANT(0x3f800000, Z24) \ // 1
	CONSTANT(127, Z25)        \
	CONSTANT(0xc2ae0000, Z26)   // -87

// EXPONENTIAL replaces x by e^x for x ≤ 0, with the operations of exponential.
// It takes Z10 to Z13 and K4 and K5.
#define EXPONENTIAL(X)                 \
	VMULPS      Z16, X, Z10        \
	VADDPS      Z17, Z10, Z10      \
	VRNDSCALEPS $1, Z10, Z10       \
	VMULPS      Z18, Z10, Z11      \
	VSUBPS      Z11, X, Z11        \
	VMULPS      Z19, Z10, Z12      \
	VSUBPS      Z12, Z11, Z11      \
	VMULPS      Z11, Z20, Z12      \
	VADDPS      Z21, Z12, Z12      \
	VMULPS      Z11, Z12, Z12      \
	VADDPS      Z22, Z12, Z12      \
	VMULPS      Z11, Z12, Z12      \
	VADDPS      Z23, Z12, Z12      \
	VMULPS      Z11, Z12, Z12      \
	VADDPS      Z17, Z12, Z12      \
	VMULPS      Z11, Z12, Z12      \
	VADDPS      Z24, Z12, Z12      \
	VMULPS      Z11, Z12, Z12      \
	VADDPS      Z24, Z12, Z12      \
	VCVTTPS2DQ  Z10, Z10           \
	VPADDD      Z25, Z10, Z10      \
	VPSLLD      $23, Z10, Z10      \
	VMULPS      Z10, Z12, Z12      \
	VCMPPS      $0x15, Z26, X, K4  \ // not below -87
	VCMPPS      $3, X, X, K5       \ // not a number
	VMOVAPS.Z   Z12, K4, Z12       \
	VMOVAPS     X, K5, Z12         \
	VMOVAPS     Z12, X
