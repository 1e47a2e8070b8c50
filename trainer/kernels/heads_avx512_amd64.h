// What the loops over heads share. AX is the number of heads, a power of two;
// position p of 16 belongs to head p mod heads.

// BEGIN goes on at body with the next 16 positions or the CX last ones, masked by
// K1, or at done if none is left.
#define BEGIN(body, done) \
	CMPQ  CX, $16 \
	JGE   body    \
	TESTQ CX, CX  \
	JLE   done    \
	TAIL

// FOLD adds halves to halves until a value per head is left, in all positions of
// the head. It takes Z14.
#define FOLD(OP, Z, done)             \
	CMPQ       AX, $16            \
	JGE        done               \
	VSHUFF64X2 $0x4e, Z, Z, Z14   \
	OP         Z, Z14, Z          \
	CMPQ       AX, $8             \
	JGE        done               \
	VSHUFF64X2 $0xb1, Z, Z, Z14   \
	OP         Z, Z14, Z          \
	CMPQ       AX, $4             \
	JGE        done               \
	VPERMILPS  $0x4e, Z, Z14      \
	OP         Z, Z14, Z          \
	CMPQ       AX, $2             \
	JGE        done               \
	VPERMILPS  $0xb1, Z, Z14      \
	OP         Z, Z14, Z
