import Cryptography
import Foundation

/// A one-byte hash of a deleted quantity's value, rounded to three digits.
///
/// A tombstone does not store the value, because deleted data must be gone. But apps rewrite a total many times for
/// the same hours, and a deletion of the old value must not be applied to the new value that arrived by another road.
/// The byte distinguishes two values in 255 of 256 cases without revealing them.
package enum ValueHint {
  /// Returns the hint of a deleted quantity, or `nil` if the catalogue has no unit for its type, so that the units of
  /// two roads may differ.
  package static func of(_ quantity: Quantity, _ type: SampleType) -> UInt8? {
    canonical(quantity, type).map { hint($0, type) }
  }

  /// Returns the hints of all quantities equivalent to this one, whose value may have been rounded, or `nil` if its
  /// type has no canonical unit.
  package static func all(of quantity: Quantity, _ type: SampleType) -> Set<UInt8>? {
    canonical(quantity, type).map { value in
      Set([value, value * (1 - tolerance), value * (1 + tolerance)].map { hint($0, type) })
    }
  }

  /// The relative tolerance, wider than the six digits of an export.
  private static let tolerance = 2e-5

  private static func canonical(_ quantity: Quantity, _ type: SampleType) -> Double? {
    guard let unit = SampleTypeCatalogue.healthKit[type]?.canonicalUnit,
      let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: unit), value.isFinite
    else { return nil }
    // Turns -0 into 0.
    return value + 0
  }

  private static func hint(_ value: Double, _ type: SampleType) -> UInt8 {
    let text = "hpeer value hint \(type.rawValue) \(DecimalText.rounded(value, digits: 3))"
    return SHA256.hash(data: Data(text.utf8)).first { _ in true } ?? 0
  }
}

extension Tombstone {
  /// Creates a tombstone for a known sample, with the details that identify the sample by whatever road it arrives
  /// again.
  ///
  /// - Parameters:
  ///   - deleted: see ``deleted``.
  ///   - road: the road by which the sample arrived.
  public init(of sample: Sample, deleted: Timestamp, road: SampleRoad? = nil) {
    var hint: UInt8?
    if case .quantity(let quantity) = sample.payload { hint = ValueHint.of(quantity, sample.type) }
    self.init(
      sample: sample.reference, deleted: deleted, end: sample.end, source: sample.source.name, road: road, hint: hint)
  }
}
