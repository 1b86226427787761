#include "client/group_code.h"

#include <cstdlib>
#include <utility>

#include "gf/field.h"
#include "gf/matrix.h"

namespace ebb::client {

namespace {

using gf::Row;

Row CauchyRows(std::size_t data, std::size_t parities) {
  Row rows;
  for (std::size_t i = data; i < data + parities; ++i) {
    for (std::size_t d = 0; d < data; ++d)
      rows.push_back(gf::Inv(static_cast<std::uint8_t>(i ^ d)));
  }
  return rows;
}

// The coefficients of the product of (x + 2^i), from the lowest on, without the highest, a 1.
Row Generator(std::size_t parities) {
  Row product(parities + 1);
  product[0] = 1;
  std::uint8_t root = 1;
  for (std::size_t i = 0; i < parities; ++i) {
    for (std::size_t j = i + 1; j > 0; --j) {
      product[j] = static_cast<std::uint8_t>(gf::Mul(product[j], root) ^ product[j - 1]);
    }
    product[0] = gf::Mul(product[0], root);
    root = gf::Mul(root, 2);
  }
  product.pop_back();
  return product;
}

Row LegacyRows(std::size_t data, std::size_t parities) {
  Row rows(data * parities);
  const Row generator = Generator(parities);
  // The remainder of x^parities, then of each next power: shift, and subtract the generator.
  Row remainder = generator;
  for (std::size_t d = 0; d < data; ++d) {
    for (std::size_t j = 0; j < parities; ++j) rows[j * data + d] = remainder[j];
    const std::uint8_t top = remainder.back();
    for (std::size_t j = parities; j-- > 0;) {
      const std::uint8_t lower = j == 0 ? std::uint8_t{0} : remainder[j - 1];
      remainder[j] = static_cast<std::uint8_t>(lower ^ gf::Mul(top, generator[j]));
    }
  }
  return rows;
}

Row ParityRows(const ErasurePolicy& policy) {
  if (policy.codec == "rs-legacy") return LegacyRows(policy.data_units, policy.parity_units);
  if (policy.codec == "xor") return Row(policy.data_units, 1);
  return CauchyRows(policy.data_units, policy.parity_units);
}

}  // namespace

GroupCode::GroupCode(ErasurePolicy policy)
    : policy_(std::move(policy)),
      parity_rows_(ParityRows(policy_)),
      encoder_(parity_rows_, policy_.data_units, policy_.parity_units) {}

std::vector<std::uint8_t> GroupCode::RowOf(std::size_t unit) const {
  if (unit >= data_units()) {
    const auto begin =
        parity_rows_.begin() + static_cast<std::ptrdiff_t>((unit - data_units()) * data_units());
    return {begin, begin + static_cast<std::ptrdiff_t>(data_units())};
  }
  Row row(data_units());
  row[unit] = 1;
  return row;
}

gf::LinearMap GroupCode::Decoder(std::span<const std::size_t> sources,
                                 std::span<const std::size_t> lost) const {
  std::vector<Row> data_of_sources;
  for (const std::size_t unit : sources) data_of_sources.push_back(RowOf(unit));
  // Any of these codes decodes from all units that are enough by their number.
  if (!gf::Invert(data_of_sources)) std::abort();
  Row coefficients;
  for (const std::size_t unit : lost) {
    const Row of_data = RowOf(unit);
    Row of_sources(data_units());
    for (std::size_t d = 0; d < data_units(); ++d) {
      gf::AddRow(of_sources, data_of_sources[d], of_data[d]);
    }
    coefficients.insert(coefficients.end(), of_sources.begin(), of_sources.end());
  }
  return {coefficients, data_units(), lost.size()};
}

}  // namespace ebb::client
