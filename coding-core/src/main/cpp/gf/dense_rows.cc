#include "gf/dense_rows.h"

namespace ebb::gf {

std::shared_ptr<const DenseRows> MakeDenseRows(Backend backend,
                                               std::span<const std::uint8_t> matrix,
                                               std::size_t sources, std::size_t targets) {
  switch (backend) {
    case Backend::kIsal:
      return MakeIsalRows(matrix, sources, targets);
    case Backend::kJerasure:
      return MakeJerasureRows(matrix, sources, targets);
    case Backend::kGfniAvx2:
    case Backend::kGfniAvx512:
      return MakeGfniRows(backend, matrix, sources, targets);
  }
  __builtin_unreachable();
}

}  // namespace ebb::gf
