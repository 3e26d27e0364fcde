# SPDX-License-Identifier: GPL-2.0
"""Names that stand for one of 2^16 parts, and of more parts than any program has."""
seq = "0123456789ABCDEFG"
print("_Z1fISt4pairIiiES0_IS1_S1_E" + "".join(f"S0_IS{seq[i]}_S{seq[i]}_E" for i in range(2, 16)) + "Evv")
print("_Z1f" + "P" * 60000 + "i")
print("_RNv" + "N" * 30000)
