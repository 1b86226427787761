// The code of a block group: which bytes its parities have, and how lost blocks are computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "client/erasure_policy.h"
#include "gf/linear_map.h"

namespace ebb::client {

// The same parities, byte for byte, as the codecs of Hadoop: "rs" has a Cauchy matrix, where parity
// i of k data has the coefficient 1 / ((k + i) xor d) for data d; the parities of "rs-legacy" are
// the remainder of the data, as a polynomial, divided by the product of (x + 2^i); "xor" adds all
// data. Immutable and thread-safe.
class GroupCode {
 public:
  // The policy is known: see CheckKnown.
  explicit GroupCode(ErasurePolicy policy);

  [[nodiscard]] const ErasurePolicy& policy() const { return policy_; }
  [[nodiscard]] std::size_t data_units() const { return policy_.data_units; }
  [[nodiscard]] std::size_t units() const { return policy_.units(); }
  [[nodiscard]] std::uint64_t cell_bytes() const { return policy_.cell_bytes; }

  // From all data to all parities.
  [[nodiscard]] const gf::LinearMap& encoder() const { return encoder_; }
  // From as many different units as there are data units to the units `lost`.
  [[nodiscard]] gf::LinearMap Decoder(std::span<const std::size_t> sources,
                                      std::span<const std::size_t> lost) const;

 private:
  // What a unit is of the data units.
  [[nodiscard]] std::vector<std::uint8_t> RowOf(std::size_t unit) const;

  ErasurePolicy policy_;
  // One row of coefficients for each parity.
  std::vector<std::uint8_t> parity_rows_;
  gf::LinearMap encoder_;
};

}  // namespace ebb::client
