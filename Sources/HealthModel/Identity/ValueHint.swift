import Cryptography
import Foundation

/// One byte of a hash of what a deleted quantity said, to three digits.
///
/// A tombstone does not keep a value: who deletes something wants it gone. But apps rewrite a total many times for the same
/// hours, and a deletion of the old value must not be taken for one of the new value that came by another road. A byte
/// tells two values apart 255 times of 256, and which value it was it does not say.
package enum ValueHint {
  /// The hint of a deleted quantity; `nil` where the catalogue has no unit for the type, so that two roads may disagree.
  package static func of(_ quantity: Quantity, _ type: SampleType) -> UInt8? {
    canonical(quantity, type).map { hint($0, type) }
  }

  /// The hints of all quantities that are equivalent to this one, whose value may have been rounded; `nil` where there are none.
  package static func all(of quantity: Quantity, _ type: SampleType) -> Set<UInt8>? {
    canonical(quantity, type).map { value in
      Set([value, value * (1 - tolerance), value * (1 + tolerance)].map { hint($0, type) })
    }
  }

  /// Wider than the six digits of an export.
  private static let tolerance = 2e-5

  private static func canonical(_ quantity: Quantity, _ type: SampleType) -> Double? {
    guard let unit = SampleTypeCatalogue.healthKit[type]?.canonicalUnit,
      let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: unit), value.isFinite
    else { return nil }
    // Not -0.
    return value + 0
  }

  private static func hint(_ value: Double, _ type: SampleType) -> UInt8 {
    let text = "hpeer value hint \(type.rawValue) \(DecimalText.rounded(value, digits: 3))"
    return SHA256.hash(data: Data(text.utf8)).first { _ in true } ?? 0
  }
}

extension Tombstone {
  /// Of a sample that is known, so that the deletion can be told of whatever road the sample comes by again.
  ///
  /// - Parameters:
  ///   - deleted: see ``deleted``.
  ///   - road: of the sample.
  public init(of sample: Sample, deleted: Timestamp, road: SampleRoad? = nil) {
    var hint: UInt8?
    if case .quantity(let quantity) = sample.payload { hint = ValueHint.of(quantity, sample.type) }
    self.init(
      sample: sample.reference, deleted: deleted, end: sample.end, source: sample.source.name, road: road, hint: hint)
  }
}
